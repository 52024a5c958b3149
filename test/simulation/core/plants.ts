// Faults that are put into the service on purpose, each in one place: a simulation that does not find them proves nothing.

import { ClientRefs } from '../../../durable-objects/conversation/events/client-refs.ts'
import { EventLog } from '../../../durable-objects/conversation/events/event-log.ts'
import { RunnerCalls } from '../../../durable-objects/conversation/turn/runner/runner-calls.ts'
import { Outbox } from '../../../durable-objects/outbox.ts'
import { KeyedRequests } from '../../../durable-objects/task-queue/keyed-requests.ts'
import { Leases } from '../../../durable-objects/task-queue/leases.ts'
import { Notices } from '../../../durable-objects/task-queue/notices.ts'
import { StreamLog } from '../../../durable-objects/task-queue/stream-log.ts'
import { Submissions } from '../../../durable-objects/task-queue/submissions.ts'
import { UnsavedReports } from '../../../durable-objects/task-queue/unsaved-reports.ts'
import { Isolate } from './clock.ts'
import type { Database } from './database.ts'
import { Life } from './object-host.ts'

/** Puts it in, and returns what takes it out. */
type PlantFault = (database: Database) => () => void

type Method = (...args: unknown[]) => unknown

/** In another way, with the real one at hand. */
function instead(of: object, name: string, make: (real: Method) => Method): () => void {
  const methods = of as Record<string, Method>
  const real = methods[name] as Method
  methods[name] = make(real)
  return () => {
    methods[name] = real
  }
}

const sql =
  (from: string, to: string): PlantFault =>
  (database) => {
    database.rewrite = (query) => query.replaceAll(from, to)
    return () => {
      database.rewrite = null
    }
  }

const PUTS = {
  'what an object says goes out before it is stored': () =>
    instead(Life.prototype, 'gated', () => Isolate.prototype.gated as Method),
  'an object goes on when its storage has failed': () => instead(Life.prototype, 'broken', () => () => {}),
  'output of a machine that came before is stored once more': () =>
    instead(
      RunnerCalls.prototype,
      'addOutput',
      (real) =>
        function (this: RunnerCalls, key, seq, bytes) {
          const due = this.get(String(key))?.next_seq
          return Reflect.apply(real, this, [key, Math.max(Number(seq), due ?? 0), bytes])
        },
    ),
  'what a machine was given is forgotten by a death': () => instead(RunnerCalls.prototype, 'has', () => () => false),
  'the key of a submission is not looked at': () => instead(KeyedRequests.prototype, 'find', () => () => null),
  'the ref of a message is not looked at': () => {
    const ends = [
      instead(ClientRefs.prototype, 'eventOf', () => () => null),
      instead(ClientRefs.prototype, 'remember', () => () => {}),
    ]
    return () => ends.map((end) => end())
  },
  'a runner that died keeps its task': () => {
    const ends = [
      instead(Leases.prototype, 'lapsed', () => () => []),
      instead(Leases.prototype, 'putOnProbation', () => () => {}),
    ]
    return () => ends.map((end) => end())
  },
  'a stream goes on one event too late': () =>
    instead(
      StreamLog.prototype,
      'since',
      (real) =>
        function (this: object, ...args) {
          return (Reflect.apply(real, this, args) as string[] | null)?.slice(1) ?? null
        },
    ),
  'a replay leaves its first event out': () =>
    instead(
      EventLog.prototype,
      'since',
      (real) =>
        function (this: object, ...args) {
          return (Reflect.apply(real, this, args) as unknown[]).slice(1)
        },
    ),
  'no message about a task that ended': () => instead(Notices.prototype, 'taskEnded', () => () => {}),
  'a message is passed on under another name each time': () =>
    instead(
      Notices.prototype,
      'put',
      (real) =>
        function (this: object, notice) {
          const { key, ...rest } = notice as { key: string }
          return Reflect.apply(real, this, [{ ...rest, key: `${key}-${Date.now()}` }])
        },
    ),
  'the report of a cancelled task stays': () => instead(UnsavedReports.prototype, 'withdraw', () => () => {}),
  'what the database did not take is forgotten': () => instead(Outbox.prototype, 'put', () => () => {}),
  'an alert is told of whenever somebody asks': () => {
    const ends = [
      instead(Submissions.prototype, 'find', () => () => null),
      instead(Submissions.prototype, 'remember', () => () => {}),
    ]
    return () => ends.map((end) => end())
  },
  'a message is not noted before it is sent': sql(
    "SET state = 'sending', started_at",
    "SET state = 'waiting', started_at",
  ),
  'a booking that was answered to nobody is not known again': sql(
    'tax, uid, note, created_at AS',
    'tax, NULL AS uid, note, created_at AS',
  ),
  'two looks at a rule may both be stored': sql(
    'COALESCE((SELECT version FROM alert_states WHERE rule_id = ?1 AND revision = ?2), 0) = ?3',
    '?3 = ?3',
  ),
  'a delivery that is there is made anew': sql(
    'ON CONFLICT (id) DO NOTHING',
    "ON CONFLICT (id) DO UPDATE SET state = 'pending'",
  ),
} satisfies Record<string, PlantFault>

/** From which seed on each is found soon, where that is not the first. */
const SEEDS: Partial<Record<keyof typeof PUTS, number>> = {
  'what an object says goes out before it is stored': 15,
  'a stream goes on one event too late': 16,
  'the report of a cancelled task stays': 2_010,
  'a booking that was answered to nobody is not known again': 74,
  'a delivery that is there is made anew': 30,
}

export const PLANTS = Object.entries(PUTS).map(([name, put]: [string, PlantFault]) => {
  return { name, put, seed: SEEDS[name as keyof typeof PUTS] ?? 1 }
})
