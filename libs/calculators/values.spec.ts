import { describe, expect, it } from '@jest/globals';
import type { ColumnType, TypedValue } from '#libs/typesystem';
import { compute } from './calculators.fixture.js';

const typed = (type: ColumnType['type'], value: TypedValue['value'], size: Partial<ColumnType> = {}): TypedValue => ({
  type: { type, ...size },
  value,
});

describe('rounding', () => {
  it.each([
    // value: half_up, half_even, floor, ceil at no places
    ['2.5', '3', '2', '2', '3'],
    ['3.5', '4', '4', '3', '4'],
    ['-2.5', '-3', '-2', '-3', '-2'],
    ['-3.5', '-4', '-4', '-4', '-3'],
    ['0.5', '1', '0', '0', '1'],
    ['-0.5', '-1', '0', '-1', '0'],
    ['2.4999999999999999999999999', '2', '2', '2', '3'],
    ['2.5000000000000000000000001', '3', '3', '2', '3'],
    ['-0.0000001', '0', '0', '-1', '0'],
    ['7', '7', '7', '7', '7'],
    ['0', '0', '0', '0', '0'],
    ['1e3', '1000', '1000', '1000', '1000'],
  ])('of %s', (value, ...expected) => {
    expect(
      ['half_up', 'half_even', 'floor', 'ceil'].map((mode) => compute('round', `{"value":${value},"mode":"${mode}"}`)),
    ).toEqual(expected);
  });

  it.each([
    ['1.005', 2, '1.01'],
    ['2.675', 2, '2.68'],
    ['-1.005', 2, '-1.01'],
    ['1', 3, '1.000'],
    ['0.123456789012345', 15, '0.123456789012345'],
    ['999999999999999', 0, '999999999999999'],
    ['999999999999999.5', 0, ':precision'],
    ['1', 15, ':precision'],
    ['12345678901234567890', 0, ':precision'],
    ['1', 16, 'places:value'],
    ['1', -1, 'places:value'],
    ['1', 1.5, 'places:value'],
  ])('of %s to %s places is %s, exact to the digit', (value, places, expected) => {
    expect(compute('round', `{"value":${value},"places":${places}}`)).toBe(expected);
  });

  it('takes every type of number, and a double by the digits it shows', () => {
    const context = {
      i: typed('INTEGER', -7),
      bi: typed('BIGINTEGER', 9_007_199_254_740_993n),
      d: typed('DECIMAL', 2.675, { precision: 15 }),
      e: typed('DECIMAL', 1e21, { precision: 15 }),
      big: typed('BIGDECIMAL', { unscaled: 12345n, scale: 3 }),
      s: typed('STRING', '1'),
      n: typed('DECIMAL', null, { precision: 15 }),
    };
    const round = (key: string, places: number) => compute('round', `{"value":"$${key}","places":${places}}`, context);
    expect([round('i', 1), round('d', 2), round('big', 2)]).toEqual(['-7.0', '2.68', '12.35']);
    expect([round('bi', 0), round('e', 0), round('s', 0), round('n', 0), round('none', 0)]).toEqual([
      ':precision',
      ':precision',
      'value:type',
      'value:null',
      'value:null',
    ]);
  });
});

describe('percent change', () => {
  it.each([
    ['125', '100', 2, '25.00'],
    ['75', '100', 2, '-25.00'],
    ['1', '3', 6, '-66.666667'],
    ['2', '3', 0, '-33'],
    ['-50', '-100', 1, '-50.0'],
    ['50', '-100', 1, '-150.0'],
    ['0', '5', 0, '-100'],
    ['0.3', '0.1', 3, '200.000'],
    ['1', '0', 2, 'previous:value'],
    ['1', '0.000', 2, 'previous:value'],
    ['1e15', '1', 2, ':precision'],
  ])('from %s against %s at %s places is %s', (current, previous, places, expected) => {
    expect(compute('percent_change', `{"current":${current},"previous":${previous},"places":${places}}`)).toBe(
      expected,
    );
  });

  it('has six places when none are asked for', () => {
    expect(compute('percent_change', '{"current":1.1,"previous":1}')).toBe('10.000000');
  });
});

describe('choosing a value', () => {
  const context = {
    none: typed('DATE', null),
    day: typed('DATE', '2026-05-01'),
    one: typed('INTEGER', 1),
    half: typed('DECIMAL', 0.5, { precision: 15 }),
    moment: typed('TIMESTAMP', 0n),
    yes: typed('BOOLEAN', true),
    raw: typed('BINARY', new Uint8Array([1])),
  };

  it.each([
    ['coalesce', '{"values":["$none",null,"$day","x"]}', '2026-05-01'],
    ['coalesce', '{"values":["$none"]}', 'null'],
    ['coalesce', '{"values":"$day"}', '2026-05-01'],
    ['coalesce', '{"values":[]}', 'null'],
    ['coalesce', '{"values":[false,true]}', 'false'],
    ['coalesce', '{"values":[12345678901234567890.5]}', '12345678901234567890.5'],
    ['if_null', '{"value":"$none","default":"$day"}', '2026-05-01'],
    ['if_null', '{"value":"$one","default":0}', '1'],
    ['if_null', '{"value":"$none","default":"$none"}', 'null'],
    ['map', '{"value":"$one","from":[1.0],"to":["one"]}', 'one'],
    ['map', '{"value":"$half","from":[0.50],"to":["half"]}', 'half'],
    ['map', '{"value":"$day","from":["2026-05-01"],"to":["May Day"]}', 'May Day'],
    ['map', '{"value":"$moment","from":["1970-01-01T01:00:00+01:00"],"to":["epoch"]}', 'epoch'],
    ['map', '{"value":"$yes","from":["true"],"to":[1]}', '1'],
    ['map', '{"value":"1","from":[1],"to":["number"],"default":"text"}', 'text'],
    ['map', '{"value":"$none","from":[null],"to":["nothing"]}', 'nothing'],
    ['map', '{"value":"$none","from":["null"],"to":["word"],"default":"other"}', 'other'],
    ['map', '{"value":"x","from":["y"],"to":[1]}', 'null'],
    ['map', '{"value":"x","from":["x","x"],"to":[1,2]}', '1'],
    ['map', '{"value":"$raw","from":["AQ=="],"to":["byte"]}', 'byte'],
    ['map', '{"value":"x","from":["x"],"to":[]}', 'to:length'],
    ['coalesce', '{"values":["$absent"]}', 'values:null'],
  ])('%s of %s is %s', (kind, inputs, expected) => {
    expect(compute(kind, inputs, context)).toBe(expected);
  });
});

describe('texts and dates', () => {
  it.each([
    ['2026-05-07', 'yyyy-MM-dd', '2026-05-07'],
    ['7/5/26', 'd/M/yy', '2026-05-07'],
    ['07.05.2026', 'dd.MM.yyyy', '2026-05-07'],
    ['20260507', 'yyyyMMdd', '2026-05-07'],
    ['Thu 7 May 2026', 'EEE d MMM yyyy', '2026-05-07'],
    ['Thursday, 07 May 2026', 'EEEE, dd MMMM yyyy', '2026-05-07'],
    ['2024-366', 'yyyy-DDD', '2024-12-31'],
    ['2026-05-07T08:09:10.123', "yyyy-MM-dd'T'HH:mm:ss.SSS", '2026-05-07'],
    ["day 7 o'clock 05 2026", "'day' d 'o''clock' MM yyyy", '2026-05-07'],
  ])('reads %j by %j', (text, format, expected) => {
    expect(compute('date_parse', JSON.stringify({ text, format }))).toBe(expected);
  });

  it.each([
    ['2026-02-29', 'yyyy-MM-dd', 'text:format'],
    ['2023-366', 'yyyy-DDD', 'text:format'],
    ['2026-13-01', 'yyyy-MM-dd', 'text:format'],
    ['0000-01-01', 'yyyy-MM-dd', 'text:format'],
    ['2026-05-07 ', 'yyyy-MM-dd', 'text:format'],
    [' 2026-05-07', 'yyyy-MM-dd', 'text:format'],
    ['2026-5-7', 'yyyy-MM-dd', 'text:format'],
    ['Fri 7 May 2026', 'EEE d MMM yyyy', 'text:format'],
    ['7 may 2026', 'd MMM yyyy', 'text:format'],
    ['٧/٥/٢٦', 'd/M/yy', 'text:format'],
    ['2026-05', 'yyyy-MM', 'format:value'],
    ['x', "yyyy-MM-dd'", 'format:value'],
    ['x', 'YYYY-MM-dd', 'format:value'],
    ['x', 'yyyy-MM-dd [x]', 'format:value'],
    ['x', '', 'format:value'],
    ['x', 'yyyyy-MM-dd', 'format:value'],
    ['J 1 2026', 'MMMMM d yyyy', 'format:value'],
    ['x', 'y'.repeat(5000), 'format:value'],
  ])('refuses %j by %j', (text, format, expected) => {
    expect(compute('date_parse', JSON.stringify({ text, format }))).toBe(expected);
  });

  it.each([
    ['yyyy-MM-dd', '0987-03-09'],
    ['yy/M/d', '87/3/9'],
    ['EEEE EEE EEEEE', 'Friday Fri F'],
    ['MMMM MMM MMMMM LL', 'March Mar M 03'],
    ['D DDD', '68 068'],
    ['Q QQ QQQ QQQQ', '1 01 Q1 1st quarter'],
    ["d''d 'yyyy'", "9'9 yyyy"],
    ['HH', 'format:value'],
  ])('prints 9 March 987 by %j', (format, expected) => {
    expect(compute('date_format', JSON.stringify({ date: '0987-03-09', format }))).toBe(expected);
  });
});

describe('time zones', () => {
  const shift = (timestamp: string, from: string, to: string) =>
    compute('tz_shift', JSON.stringify({ timestamp, from_zone: from, to_zone: to }));

  it.each([
    ['2026-06-01T12:00:00Z', 'UTC', 'Europe/Berlin', '2026-06-01T10:00:00.000000Z'],
    ['2026-01-01T12:00:00Z', 'UTC', 'Europe/Berlin', '2026-01-01T11:00:00.000000Z'],
    ['2026-01-01T11:00:00Z', 'Europe/Berlin', 'UTC', '2026-01-01T12:00:00.000000Z'],
    ['2026-01-01T00:00:00.123456Z', 'UTC', 'Asia/Kathmandu', '2025-12-31T18:15:00.123456Z'],
    // 02:30 does not exist on 29 March 2026 in Berlin: the clock shows 03:30 then.
    ['2026-03-29T02:30:00Z', 'UTC', 'Europe/Berlin', '2026-03-29T01:30:00.000000Z'],
    // 02:30 comes twice on 25 October 2026 in Berlin: the first is summer time.
    ['2026-10-25T02:30:00Z', 'UTC', 'Europe/Berlin', '2026-10-25T00:30:00.000000Z'],
    // The same in New York, on other days.
    ['2026-03-08T02:30:00Z', 'UTC', 'America/New_York', '2026-03-08T07:30:00.000000Z'],
    ['2026-11-01T01:30:00Z', 'UTC', 'America/New_York', '2026-11-01T05:30:00.000000Z'],
    // Lord Howe turns its clocks by half an hour.
    ['2026-10-04T02:15:00Z', 'UTC', 'Australia/Lord_Howe', '2026-10-03T15:45:00.000000Z'],
    // Samoa left out 30 December 2011.
    ['2011-12-30T12:00:00Z', 'UTC', 'Pacific/Apia', '2011-12-30T22:00:00.000000Z'],
    ['1969-12-31T23:59:59.999999Z', 'UTC', 'UTC', '1969-12-31T23:59:59.999999Z'],
    ['0001-01-01T00:00:00Z', 'UTC', 'Asia/Tokyo', ':range'],
    ['9999-12-31T23:00:00Z', 'UTC', 'America/New_York', ':range'],
    ['2026-01-01T00:00:00Z', '+02:00', 'UTC', 'from_zone:value'],
    ['2026-01-01T00:00:00Z', 'UTC', 'UTC+2', 'to_zone:value'],
    ['2026-01-01T00:00:00Z', 'Z', 'UTC', 'from_zone:value'],
    ['2026-01-01T00:00:00Z', 'europe/berlin', 'UTC', 'from_zone:value'],
    ['2026-01-01T00:00:00Z', 'SYSTEM', 'UTC', 'from_zone:value'],
  ])('%s from %s to %s is %s', (timestamp, from, to, expected) => {
    expect(shift(timestamp, from, to)).toBe(expected);
  });
});

describe('references', () => {
  it('read texts and numbers of an ANY output by the form they have', () => {
    const context = {
      text: typed('STRING', '2026-01-31'),
      word: typed('STRING', 'soon'),
      count: typed('DECIMAL', { unscaled: 20n, scale: 1 }, { precision: 15, scale: 1 }),
      broken: typed('DECIMAL', { unscaled: 25n, scale: 1 }, { precision: 15, scale: 1 }),
    };
    const add = (date: string, months: string) =>
      compute('add_months', `{"date":"${date}","months":"${months}"}`, context);
    expect(add('$text', '$count')).toBe('2026-03-31');
    expect(add('$word', '$count')).toBe('date:type');
    expect(add('$text', '$broken')).toBe('months:type');
    expect(add('$text', '$text')).toBe('months:type');
  });

  it('to a null take the default of an input that has one, and fail where a value is needed', () => {
    const context = { none: typed('STRING', null) };
    expect(compute('period_start', '{"date":"2026-03-01","unit":"week","week_start":"$none"}', context)).toBe(
      '2026-02-23',
    );
    expect(compute('period_start', '{"date":"$none","unit":"week"}', context)).toBe('date:null');
    expect(compute('add_business_days', '{"date":"2026-03-01","days":1,"holidays":["$none"]}', context)).toBe(
      'holidays:null',
    );
  });
});
