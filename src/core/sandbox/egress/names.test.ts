import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { Refusal } from './connection-log.ts';
import type { WayOut } from './egress-route.ts';
import { readRule } from './host.ts';
import { answerNames } from './names.ts';

const A = 1;
const AAAA = 28;

/** A query for a name as resolvers send it over TCP, without its length. */
function query(
  name: string,
  { type = A, flags = 0x0100, id = 0x1234, questions = 1, tail = '' } = {},
): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(flags, 2);
  header.writeUInt16BE(questions, 4);
  header.writeUInt32BE(7, 8);
  const labels = name.split('.').flatMap((label) => [label.length, ...Buffer.from(label)]);
  return Buffer.concat([header, Buffer.from([...labels, 0, 0, type, 0, 1]), Buffer.from(tail, 'hex')]);
}

const withLength = (bytes: Buffer) =>
  Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes]);

class Client extends EventEmitter {
  readonly replies: Buffer[] = [];
  destroyed = false;
  hasEnded = false;
  canWrite = true;
  resume(): void {}
  end(): void {
    this.hasEnded = true;
  }
  destroy(): void {
    this.destroyed = true;
  }
  write(bytes: Buffer): boolean {
    this.replies.push(bytes);
    return this.canWrite;
  }
}

function rig() {
  const refused: Refusal[] = [];
  const rules = ['api.example.com:443', '*.wide.example:8443', '*:80'].map((text) => readRule(text)!);
  const way = {
    plan: { rules, place: 'tool.yaml' },
    layout: { aliases: new Map([['api.example.com', '127.1.2.3']]) },
    journal: { denied: (refusal: Refusal) => refused.push(refusal) },
  } as unknown as WayOut;
  const client = new Client();
  answerNames(client as unknown as Socket, way);
  return { client, refused, ask: (bytes: Buffer) => client.emit('data', withLength(bytes)) };
}

describe('the names in the network of a tool', () => {
  it('have the addresses that their rules gave them', () => {
    const { client, refused, ask } = rig();
    const asked = query('API.example.com');
    ask(asked);
    const [reply] = client.replies;
    const body = reply!.subarray(2);
    assert.equal(reply!.readUInt16BE(0), body.length);
    assert.equal(
      body.subarray(0, 12).toString('hex'),
      // The id, an answer with recursion, no error; one question, one answer, nothing else.
      '123481800001000100000000',
    );
    assert.deepEqual(body.subarray(12, asked.length), asked.subarray(12));
    assert.equal(body.subarray(asked.length).toString('hex'), 'c00c00010001000000000004' + '7f010203');
    assert.deepEqual(refused, []);
  });

  it('say so when recursion was not wanted, and leave out what follows the question', () => {
    const { client, ask } = rig();
    ask(query('api.example.com', { flags: 0, tail: '0000290200000000000000' }));
    const body = client.replies[0]!.subarray(2);
    assert.equal(body.readUInt16BE(2), 0x8080);
    assert.equal(body.length, query('api.example.com').length + 16);
  });

  it('have no other records', () => {
    const { client, refused, ask } = rig();
    ask(query('api.example.com', { type: AAAA }));
    const body = client.replies[0]!.subarray(2);
    assert.deepEqual(
      [body.readUInt16BE(2), body.readUInt16BE(6), body.length],
      [0x8180, 0, query('api.example.com').length],
    );
    assert.deepEqual(refused, []);
  });

  it('that no rule has do not exist, and are reported with what would allow them', () => {
    for (const [name, host, why, port] of [
      ['other.test', 'other.test', /^'\*:80' goes through the proxy alone/, '80'],
      ['a.wide.example', 'a.wide.example', /^'\*\.wide\.example:8443' goes through the proxy alone/, '8443'],
      ['bad name', 'names', /^the looked-up name is not valid$/, undefined],
    ] as const) {
      const { client, refused, ask } = rig();
      ask(query(name));
      const body = client.replies[0]!.subarray(2);
      assert.deepEqual([body.readUInt16BE(2), body.readUInt16BE(6)], [0x8183, 0]);
      const [{ host: at, port: none, why: said, allow }] = refused as [Refusal];
      assert.deepEqual([at, none], [host, null]);
      assert.match(said, why);
      if (port === undefined) assert.equal(allow, undefined);
      else assert.ok(allow!.line.includes(`${name}:${port}`), allow!.line);
    }
    const { refused, ask } = (() => {
      const one = rig();
      return one;
    })();
    ask(query('127.0.0.1'));
    assert.equal(refused[0]!.host, 'names');
  });

  it('are asked in pieces of any size, several in a row', () => {
    const { client } = rig();
    const bytes = Buffer.concat([
      withLength(query('api.example.com')),
      withLength(query('api.example.com', { id: 2 })),
    ]);
    for (const byte of bytes) client.emit('data', Buffer.from([byte]));
    assert.deepEqual(
      client.replies.map((reply) => reply.readUInt16BE(2)),
      [0x1234, 2],
    );
    client.emit('data', bytes);
    assert.equal(client.replies.length, 4);
    assert.equal(client.destroyed, false);
    client.emit('end');
    assert.equal(client.hasEnded, true);
  });

  it('are not answered when the query is invalid', () => {
    const whole = query('api.example.com');
    for (const [what, bytes] of Object.entries({
      'a reply': query('api.example.com', { flags: 0x8000 }),
      'another operation': query('api.example.com', { flags: 0x0800 }),
      'two questions': query('api.example.com', { questions: 2 }),
      'a cut name': whole.subarray(0, 20),
      'a cut question': whole.subarray(0, whole.length - 1),
      'a pointer': Buffer.concat([whole.subarray(0, 12), Buffer.from([0xc0, 0x0c, 0, 1, 0, 1])]),
      'a label of 64': Buffer.concat([
        whole.subarray(0, 12),
        Buffer.from([64, ...Buffer.alloc(64, 'a'), 0, 0, 1, 0, 1]),
      ]),
      'too little': whole.subarray(0, 11),
      'too much': Buffer.concat([whole, Buffer.alloc(513 - whole.length)]),
    })) {
      const { client, ask } = rig();
      ask(bytes);
      assert.deepEqual([client.replies.length, client.destroyed], [0, true], what);
    }
    for (const bytes of [
      Buffer.concat([whole, Buffer.alloc(512 - whole.length)]),
      Buffer.concat([whole.subarray(0, 12), Buffer.from([63, ...Buffer.alloc(63, 'a'), 0, 0, 1, 0, 1])]),
      Buffer.concat([whole.subarray(0, 12), Buffer.from([0, 0, 1, 0, 1])]),
    ]) {
      const { client, ask } = rig();
      ask(bytes);
      assert.deepEqual([client.replies.length, client.destroyed], [1, false]);
    }
  });

  it('are asked no more by a client that does not read the answers', () => {
    const { client, ask } = rig();
    client.canWrite = false;
    ask(query('api.example.com'));
    assert.deepEqual([client.replies.length, client.destroyed], [1, true]);
    ask(query('api.example.com'));
    assert.equal(client.replies.length, 1);
  });
});
