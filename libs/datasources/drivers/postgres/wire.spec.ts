import { describe, expect, it } from '@jest/globals';

import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';

import { MESSAGE } from './messages.js';
import { PostgresWire, type MessageConsumer } from './wire.js';

function message(type: number, body: string): Buffer {
  const head = Buffer.alloc(5);
  head[0] = type;
  head.writeUInt32BE(4 + Buffer.byteLength(body), 1);
  return Buffer.concat([head, Buffer.from(body)]);
}

class Heard implements MessageConsumer {
  readonly bodies: string[] = [];

  message(type: number, buffer: Buffer, start: number, end: number): void {
    this.bodies.push(`${String.fromCharCode(type)}:${buffer.toString('utf8', start, end)}`);
  }

  closed(): void {
    this.bodies.push('closed');
  }
}

/** A wire whose server says what the test says. */
function wireOf(): { heard: Heard; say: (chunk: Buffer) => void; wire: PostgresWire } {
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const wire = new PostgresWire(socket as Socket);
  const heard = new Heard();
  wire.exchange([], heard);
  return { heard, say: (chunk) => void socket.emit('data', chunk), wire };
}

const MESSAGES = ['', 'short', 'x'.repeat(300), '', 'a body of some length'];
const ALL = Buffer.concat(MESSAGES.map((body) => message(MESSAGE.dataRow, body)));
const EXPECTED = MESSAGES.map((body) => `D:${body}`);

describe('messages of a server as the network cuts them', () => {
  it('are whole wherever one cut falls, in a header or in a body', () => {
    for (let cut = 0; cut <= ALL.length; cut++) {
      const { heard, say } = wireOf();
      say(ALL.subarray(0, cut));
      say(ALL.subarray(cut));
      expect(heard.bodies).toEqual(EXPECTED);
    }
  });

  for (const size of [1, 2, 3, 4, 5, 6, 7, 64]) {
    it(`are whole in pieces of ${size} bytes`, () => {
      const { heard, say } = wireOf();
      for (let at = 0; at < ALL.length; at += size) say(ALL.subarray(at, at + size));
      expect(heard.bodies).toEqual(EXPECTED);
    });
  }

  it('are whole however many chunks one takes', () => {
    const { heard, say } = wireOf();
    const body = 'text across many chunks '.repeat(10_000);
    const whole = message(MESSAGE.dataRow, body);
    for (let at = 0; at < whole.length; at += 65_536) say(whole.subarray(at, at + 65_536));
    expect(heard.bodies).toEqual([`D:${body}`]);
  });
});
