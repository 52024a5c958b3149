// What each row is held to, in the order in which it measures, and what keeps it from more: the cause as a profile shows it. A row
// that misses its target without a cause here is a failure of `test/node/benchmarks.test.ts`.

import type { Target } from './rounds.ts'

export type Aim = { readonly target: Target; readonly limit?: string }

const none: Aim = { target: {} }
const atLeast = (ratioAtLeast: number, limit?: string): Aim => aim({ ratioAtLeast }, limit)
const atMost = (ratioAtMost: number, limit?: string): Aim => aim({ ratioAtMost }, limit)
const within = (oursAtMost: number, limit?: string): Aim => aim({ oursAtMost }, limit)
const more = (excessAtMost: number, limit?: string): Aim => aim({ excessAtMost }, limit)
const aim = (target: Target, limit?: string): Aim => (limit === undefined ? { target } : { target, limit })

const HOP =
  'the hop into the object is in the baseline too; 2 % of the time is our compiled JavaScript, a fifth collects the garbage of a heap that the baseline has not, the rest are calls into the runtime: key, headers, arguments and answer copied'
const REQUEST = 'in the object the answer takes 0.03 and 0.3 ms; the rest is the request around it'
const STORED_FIRST =
  'each event is stored before it is sent: a bare Worker that only inserts and sends takes two thirds of our time, the server in Node keeps nothing'
const DATABASE = '0.1 to 0.4 ms of key, rate limit and headers, and of opening what is sealed'
const DIVISIONS =
  'of 0.35 ms a set: nine running means 0.10, the squares of 20 bars a bar 0.07, KDJ, whose divisions wait for each other, 0.06, making 24 arrays of 47 kB 0.05'
const AS_GOOD = atMost(1.3)

export const AIMS: Readonly<Record<string, readonly Aim[]>> = {
  P1: [
    atLeast(
      0.9,
      'of 12 µs more than the bare route’s 37 the eight headers of an answer take 5, the context that log lines name 3, reading headers 2',
    ),
    atMost(1.15, 'the same'),
  ],
  P2: [atLeast(0.8, `${HOP}; a conversation also asks its row`), atLeast(0.8, HOP)],
  P3: [
    atLeast(
      0.75,
      'the object takes half of the time: a third of that is the insert, an eighth the ten sockets, a twelfth the turn’s row; the rest is key, limit, body and headers',
    ),
    within(0.8, 'the answer waits until the write is on the disk'),
  ],
  P4: [atLeast(0.5)],
  P5: [
    aim(
      { ratioAtLeast: 8, oursAtLeast: 30_000 },
      'a third of a message is SQL: the look for its ref, the rows of event and ref',
    ),
  ],
  P6: [atLeast(0.8, STORED_FIRST), within(60)],
  P7: [atLeast(5)],
  P8: [
    atLeast(
      0.3,
      'of 51 µs for an event and a listener 25 are the socket from the object to the Worker, 26 the stream to the client, of whatever kind; the bare server takes 10; a stream straight from the object takes two thirds, and keeps the object awake while somebody listens',
    ),
    none,
  ],
  P9: [aim({ oursAtLeast: 1 })],
  P10: [
    aim(
      { ratioAtMost: 2.5, oursAtMost: 10 },
      'three quarters are the POST, which answers when the database has the row, so that the next list shows it',
    ),
  ],
  P11: [more(3)],
  P12: [aim({ ratioAtLeast: 15, oursAtLeast: 300_000 })],
  P13: [
    none,
    atMost(0.33, 'reading 4,000 rows, their headers, and the way of the bytes through object and Worker'),
    atMost(1.05),
    within(20),
    within(48),
  ],
  P14: [
    aim({ ratioAtMost: 0.25, oursAtMost: 5 }, REQUEST),
    aim({ ratioAtMost: 0.25, oursAtMost: 5 }, REQUEST),
    AS_GOOD,
  ],
  P15: [aim({ ratioAtMost: 0.25, oursAtMost: 5 }, REQUEST)],
  P16: [atLeast(25, DIVISIONS), atLeast(5, DIVISIONS), atLeast(3, DIVISIONS)],
  P17: [atMost(1 / 20)],
  P18: [atLeast(100), within(0.2), within(15)],
  P19: [
    atMost(1.7, 'half of the start is compiling all of the Worker, a quarter is running its modules once'),
    within(1_000),
  ],
  P21: [AS_GOOD, AS_GOOD, AS_GOOD],
  P22: [more(100)],
  'socket-io': [
    atLeast(0.8, STORED_FIRST),
    atLeast(1, 'a frame of that transport is one packet: 100 events are 100 frames to each client'),
  ],
  replay: [atLeast(0.5)],
  submit: [
    within(20),
    atMost(2, 'creation and start are one frame already; it takes 51 µs for each of the 200 streams, as in P8'),
  ],
  tasks: [aim({ oursAtLeast: 200 })],
  'task-list': [AS_GOOD],
  search: [atLeast(20), atLeast(20)],
  upload: [none, none],
  list: [atMost(1.25, DATABASE)],
  settings: [atMost(1.25, DATABASE)],
  secrets: [atMost(1.25, DATABASE)],
  limiter: [atLeast(0.95), none],
  alerts: [within(5_000)],
  screening: [within(1_000), none],
  analysis: [none, none, none],
  'analysis-filter': [atMost(1.5), atMost(1.5), atMost(1.5), atMost(1.5), atMost(1.5)],
  'agent-first': [none],
  'agent-step': [more(15)],
  'agent-long': [atMost(1.2), none],
  'shell-loop': [within(3_000)],
  'shell-files': [within(5_000)],
  'shell-grep': [atMost(10)],
  'runner-command': [more(15)],
  'runner-files': [within(1_000), more(15), more(25), more(2_000)],
  'runner-output': [aim({ oursAtLeast: 30 }), within(64)],
  'runner-tests': [atMost(1.1)],
  startup: [
    none,
    within(4),
    within(100, 'the schemas take a quarter, collecting garbage a quarter, and what is left are modules that run once'),
  ],
}
