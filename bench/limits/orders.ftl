<#-- Orders of a region, one row a day or a week, with the share of each channel. -->
<#assign columns = ["order_id", "customer_id", "channel", "currency", "net_amount", "tax_amount", "shipped_at"]>
<#assign measures = [{"name": "orders", "of": "order_id", "how": "COUNT"}, {"name": "net", "of": "net_amount", "how": "SUM"}, {"name": "tax", "of": "tax_amount", "how": "SUM"}]>
<#assign channels = ["web", "store", "phone", "partner"]>
<#macro measure m source>${m.how}(${source}.${m.of}) AS ${m.name}</#macro>
<#macro within column from>${column} >= '${from}' AND ${column} < CURRENT_DATE</#macro>
<#function bucket column><#if by_day><#return "date_trunc('day', " + column + ")"></#if><#return "date_trunc('week', " + column + ")"></#function>
WITH picked AS (
  SELECT
<#list columns as c>
    o.${c?lower_case}<#sep>,</#sep>
</#list>
  FROM sales.orders o
  JOIN sales.customers c ON c.customer_id = o.customer_id
  WHERE <@within column="o.shipped_at" from=since/>
    AND c.region = '${region}'
<#if status?has_content>
    AND o.status = '${status}'
</#if>
<#if limit gt 1000>
    AND o.net_amount > 0
<#elseif limit gt 10>
    AND o.net_amount >= 0
<#else>
    AND o.net_amount IS NOT NULL
</#if>
), totals AS (
  SELECT ${bucket("p.shipped_at")} AS bucket,
<#list measures as m>
    <@measure m=m source="p"/><#sep>,</#sep>
</#list>
  FROM picked p
  GROUP BY ${bucket("p.shipped_at")}
), shares AS (
<#list channels as channel>
  SELECT ${bucket("p.shipped_at")} AS bucket, '${channel}' AS channel, SUM(p.net_amount) AS net
  FROM picked p
  WHERE p.channel = '${channel}' AND p.currency IN ('EUR', 'USD')
  GROUP BY ${bucket("p.shipped_at")}
<#sep>  UNION ALL
</#sep>
</#list>
)
SELECT t.bucket, t.orders, t.net, t.tax<#list channels as channel>,
       <#switch channel><#case "web">ROUND<#break><#case "store">FLOOR<#break><#default>CEIL</#switch>(s${channel?index}.net / NULLIF(t.net, 0)) AS ${channel}_share</#list>
FROM totals t
<#list channels as channel>
LEFT JOIN shares s${channel?index} ON s${channel?index}.bucket = t.bucket AND s${channel?index}.channel = '${channel}'
</#list>
ORDER BY t.bucket
LIMIT ${limit * 2}
