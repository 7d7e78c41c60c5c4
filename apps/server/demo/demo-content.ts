/** The demo workspace's content: what a stranger reads first, so it is written to be read. */

export const DATASOURCES = { airports: 'demo-airports', weather: 'demo-weather', flights: 'demo-flights' } as const;

export const PIPELINE_NAME = 'travel/delays/by_month';
export const ENDPOINT_PATH = '/travel/delays/{city}';

export const TEMPLATES = [
  {
    id: 'travel/lib/ratios.ftl',
    dialect: 'DUCKDB',
    display_name: 'Ratios',
    description: 'Macros for shares and averages that survive an empty denominator.',
    is_library: true,
    imports: [],
    body: `<#-- A share in percent with one decimal; NULL when there is nothing to divide by. -->
<#macro percent part whole>CAST(round(100.0 * \${part} / nullif(\${whole}, 0), 1) AS DECIMAL(5, 1))</#macro>
<#macro average total count places=1>CAST(round(\${total} / nullif(\${count}, 0), \${places}) AS DECIMAL(12, \${places}))</#macro>
`,
  },
  {
    id: 'travel/delays/airports.sql',
    dialect: 'POSTGRES',
    display_name: 'Airports of a city',
    description: 'Expects city (STRING).',
    imports: [],
    body: `SELECT iata, name, city, state, latitude, longitude
  FROM airports
 WHERE city = :city
`,
  },
  {
    id: 'travel/delays/weather.sql',
    dialect: 'SQLITE',
    display_name: 'Usual weather of a city, by month',
    description: 'Expects city (STRING). Averages over the recorded years, 2012 to 2015.',
    imports: [],
    body: `SELECT CAST(strftime('%m', day) AS INTEGER) AS month,
       avg(temp_max_c) AS temp_max_c,
       avg(precipitation_mm) AS precipitation_mm,
       avg(CASE WHEN precipitation_mm > 0 THEN 1.0 ELSE 0.0 END) AS wet_share
  FROM weather
 WHERE city = :city
 GROUP BY 1
`,
  },
  {
    id: 'travel/delays/flights.sql',
    dialect: 'DUCKDB',
    display_name: 'Departures by airport and day',
    description:
      'Expects from_day, to_day (DATE, inclusive), late_after_minutes (INTEGER) and optionally only_long_haul (BOOLEAN).',
    imports: [],
    body: `SELECT origin,
       CAST(departed_at AS DATE) AS day,
       count(*) AS flights,
       sum(delay_minutes) AS delay_minutes,
       count(*) FILTER (WHERE delay_minutes > :late_after_minutes) AS late_flights
  FROM flights
 WHERE departed_at >= :from_day
   AND departed_at < :to_day + INTERVAL 1 DAY
<#if only_long_haul>
   AND distance_miles >= 1500
</#if>
 GROUP BY ALL
`,
  },
  {
    id: 'travel/delays/report.sql',
    dialect: 'DUCKDB',
    display_name: 'Delays beside the usual weather',
    description: 'Joins the three staged tables. Expects min_flights (INTEGER).',
    imports: [{ id: 'travel/lib/ratios.ftl', version: 1, alias: 'ratios' }],
    body: `<#-- Every figure is a sum over the days of the month, so months of different length compare. SQLite types an expression by
     its first row, so its figures are cast: a city without weather has no row to tell the type. -->
<#assign measures = ["flights", "late_flights", "delay_minutes"]>
WITH monthly AS (
  SELECT origin,
         CAST(month(day) AS INTEGER) AS month
<#list measures as measure>
       , CAST(sum(\${measure}) AS BIGINT) AS \${measure}
</#list>
    FROM stg_flights
   GROUP BY ALL
)
SELECT a.iata AS airport,
       a.name AS airport_name,
       m.month,
       m.flights,
       <@ratios.percent part="m.late_flights" whole="m.flights"/> AS late_percent,
       <@ratios.average total="m.delay_minutes" count="m.flights"/> AS mean_delay_minutes,
       CAST(round(CAST(w.temp_max_c AS DOUBLE), 1) AS DECIMAL(4, 1)) AS usual_temp_max_c,
       <@ratios.percent part="CAST(w.wet_share AS DOUBLE)" whole="1"/> AS usual_wet_days_percent
  FROM monthly m
  JOIN stg_airports a ON a.iata = m.origin
  LEFT JOIN stg_weather w ON CAST(w.month AS INTEGER) = m.month
 WHERE m.flights >= :min_flights
 ORDER BY a.iata, m.month
`,
  },
] as const;

const sql = (id: string): { id: string; version: number } => ({ id, version: 1 });

export const PIPELINE = {
  schema_version: 1,
  name: PIPELINE_NAME,
  display_name: 'Flight delays beside the usual weather',
  description:
    'Departures in the first half of 2001 (DuckDB), the airports of one city (Postgres) and its usual weather (SQLite), read in parallel and joined in staging.',
  parameters: {
    city: { type: 'STRING', required: true, description: 'A city with weather records: Seattle or New York.' },
    from_day: { type: 'DATE', required: false, default: '2001-01-01', description: 'First day, inclusive.' },
    to_day: { type: 'DATE', required: false, default: '2001-06-30', description: 'Last day, inclusive.' },
    late_after_minutes: {
      type: 'INTEGER',
      required: false,
      default: 15,
      description: 'A departure later than this is late.',
    },
    min_flights: {
      type: 'INTEGER',
      required: false,
      default: 100,
      description: 'Months with fewer departures are left out.',
    },
    only_long_haul: {
      type: 'BOOLEAN',
      required: false,
      default: false,
      description: 'Only flights of 1,500 miles and more.',
    },
  },
  nodes: [
    {
      id: 'flights',
      type: 'DQL',
      source: DATASOURCES.flights,
      template: sql('travel/delays/flights.sql'),
      output: { target: 'tempdb', table: 'stg_flights' },
    },
    {
      id: 'airports',
      type: 'DQL',
      source: DATASOURCES.airports,
      template: sql('travel/delays/airports.sql'),
      output: { target: 'tempdb', table: 'stg_airports' },
    },
    {
      id: 'weather',
      type: 'DQL',
      source: DATASOURCES.weather,
      template: sql('travel/delays/weather.sql'),
      output: { target: 'tempdb', table: 'stg_weather' },
    },
    {
      id: 'report',
      type: 'DQL',
      source: 'tempdb',
      template: sql('travel/delays/report.sql'),
      depends_on: ['flights', 'airports', 'weather'],
      output: { target: 'caller' },
    },
  ],
};
