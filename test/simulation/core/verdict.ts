// What must be true when all is over: everything that was acknowledged is there once, nothing else is, everybody was told all of it
// in its order, no message came twice, and the ledgers are what a plain count makes of the answers.

import { brokenAt, type Link } from '../../../src/lib/crypto.ts'
import { formatAmount, parseAmount } from '../../../src/lib/decimal.ts'
import { OVER } from './clients.ts'
import type { Schedule } from './schedule.ts'

type TaskRow = { id: string; owner: string; status: string; batch: string | null; request: string }

export async function judge(schedule: Schedule): Promise<void> {
  judgeChat(schedule)
  judgeTasks(schedule)
  await judgeAdvice(schedule)
  judgeMessages(schedule)
  judgeStreams(schedule)
  judgePortfolio(schedule)
  judgeAlerts(schedule)
  judgeIndex(schedule)
  schedule.lending.judge()
}

function judgeChat({ world, chat, chatClients }: Schedule): void {
  const rows = chat.disk.read<{ id: number; body: string }>('SELECT id, body FROM events ORDER BY id')
  for (const [at, { id }] of rows.entries()) if (id !== at) world.fault(`event ${id} stands at ${at}`)
  for (const client of chatClients) {
    for (const [at, text] of client.seen.entries())
      if (text !== rows[at]?.body) world.fault(`event ${at} was shown differently`)
    for (const [ref, id] of client.acknowledged) {
      const found = rows.filter(({ body }) => body.includes(`message ${ref}"`))
      if (found.length !== 1 || found[0]?.id !== id)
        world.fault(`${ref} was acknowledged as ${id} and stands at ${found.map((row) => row.id).join() || 'no place'}`)
    }
  }
}

const tasksOf = ({ queue }: Schedule): TaskRow[] =>
  queue.host.disk.read<TaskRow>('SELECT id, owner, status, batch, request FROM tasks ORDER BY seq')

function judgeTasks(schedule: Schedule): void {
  const { world, submitter, database } = schedule
  const tasks = new Map(tasksOf(schedule).map((task) => [task.id, task]))
  const accepted = submitter.taken.flatMap(({ tasks: ids }) => ids)
  for (const id of accepted) if (!tasks.has(id)) world.fault(`task ${id} was accepted and is not there`)
  if (new Set(accepted).size !== accepted.length) world.fault('a task was accepted twice')
  if (tasks.size !== accepted.length) world.fault(`${accepted.length} tasks were accepted and ${tasks.size} are there`)
  for (const { id, status } of tasks.values()) {
    const found = database.read('SELECT 1 FROM analyses WHERE query_id = ?', id).length
    if (!OVER.has(status)) world.fault(`task ${id} is ${status} at the end`)
    if (status === 'completed' && found !== 1) world.fault(`task ${id} is completed and has ${found} reports`)
    if (status === 'cancelled' && found !== 0) world.fault(`task ${id} is cancelled and has a report`)
  }
  const left = schedule.queue.host.disk.read<{ n: number }>('SELECT COUNT(*) n FROM leases')[0]?.n ?? 0
  if (left > 0) world.fault(`${left} leases are left`)
}

/** Each report has its row, the rows are bound to each other, and none tells of the same report twice. */
async function judgeAdvice({ world, database, owners }: Schedule): Promise<void> {
  for (const owner of owners) {
    const rows = database.read<Link & { query_id: string }>(
      `SELECT place, query_id, content, previous_hash AS "previousHash", hash FROM advice_ledger WHERE owner = ? ORDER BY place`,
      owner,
    )
    const broken = await brokenAt(rows)
    if (broken !== null) world.fault(`the ledger of ${owner} is broken at ${broken}`)
    const told = new Set(rows.map(({ query_id }) => query_id))
    if (told.size !== rows.length) world.fault(`the ledger of ${owner} tells of a report twice`)
    const reports = database.read<{ query_id: string }>('SELECT query_id FROM analyses WHERE owner = ?', owner)
    for (const { query_id } of reports) if (!told.has(query_id)) world.fault(`report ${query_id} is not in the ledger`)
  }
}

type DeliveryRow = { id: string; owner: string; subject: string; channel_id: string; state: string; parts: number }

function judgeMessages(schedule: Schedule): void {
  const { world, database, got } = schedule
  const rows = database.read<DeliveryRow>(
    `SELECT d.*, (SELECT COUNT(*) FROM delivery_parts p WHERE p.delivery_id = d.id) AS parts FROM deliveries d`,
  )
  const name = ({ owner, subject, channel_id }: DeliveryRow) => `${subject} for ${owner} by ${channel_id}`
  const found = rows.map(name).sort()
  const wanted = [...wantedMessages(schedule)].sort()
  for (const one of wanted) if (!found.includes(one)) world.fault(`no message: ${one}`)
  for (const one of found) if (!wanted.includes(one)) world.fault(`nobody wanted a message: ${one}`)
  if (new Set(found).size !== found.length) world.fault('a message was made twice')
  for (const row of rows) {
    const recognises = row.channel_id === 'box'
    if (row.state !== 'delivered' && (row.state !== 'uncertain' || recognises))
      world.fault(`${row.state}: ${name(row)}`)
    for (let n = 1; n <= row.parts; n++) {
      const times = got.filter(({ channel, key }) => channel === row.channel_id && key === `${row.id}-${n}`).length
      if (times === 0 && row.state === 'delivered') world.fault(`delivered and never came: ${name(row)}, part ${n}`)
      if (times > 1 && !recognises) world.fault(`came ${times} times: ${name(row)}, part ${n}`)
    }
  }
}

function* wantedMessages(schedule: Schedule): Generator<string> {
  const tasks = tasksOf(schedule)
  const batches = new Map<string, TaskRow[]>()
  for (const task of tasks) if (task.batch !== null) batches.set(task.batch, [...(batches.get(task.batch) ?? []), task])
  for (const { id, owner, status, batch, request } of tasks) {
    if (status !== 'completed' || !isTold(request)) continue
    const isAlone = batch === null || batches.get(batch)?.length === 1
    for (const channel of isAlone ? ['box', 'bell', 'sheet'] : ['box', 'bell'])
      yield `report:${id} for ${owner} by ${channel}`
  }
  for (const [batch, members] of batches) {
    const { owner, request } = members[0] as TaskRow
    const isWorthIt = members.length > 1 && isTold(request) && members.some(({ status }) => status === 'completed')
    if (isWorthIt) yield `digest:${batch} for ${owner} by sheet`
  }
  const alerts = schedule.database.read<{ owner: string; notice: string }>(
    'SELECT DISTINCT owner, notice FROM alert_triggers WHERE notice IS NOT NULL',
  )
  for (const { owner, notice } of alerts)
    for (const channel of ['box', 'bell', 'sheet']) yield `${notice} for ${owner} by ${channel}`
}

const isTold = (request: string): boolean => (JSON.parse(request) as { notify: boolean }).notify

/** Who follows a stream has what is stored. */
function judgeStreams(schedule: Schedule): void {
  const { world, streams, database } = schedule
  const tasks = tasksOf(schedule)
  for (const { owner, tasks: told, alerts } of streams) {
    for (const { id, status } of tasks.filter((task) => task.owner === owner))
      if (told.get(id)?.status !== status)
        world.fault(`${id} is ${status}, and ${owner} was told ${told.get(id)?.status}`)
    const fired = database.read<{ uid: string }>('SELECT uid FROM alert_triggers WHERE owner = ? ORDER BY id', owner)
    const wanted = fired.map(({ uid }) => JSON.stringify({ uid }))
    if (alerts.toSorted().join() !== wanted.toSorted().join())
      world.fault(`${owner} was told of the alerts ${alerts} and not of ${wanted}`)
  }
}

function judgePortfolio({ world, portfolio, database }: Schedule): void {
  type Row = { id: number; uid: string; symbol: string; side: string; quantity: string }
  const rows = database.read<Row>('SELECT * FROM portfolio_events WHERE owner = ? ORDER BY id', portfolio.owner)
  const held = new Map<string, bigint>()
  for (const { symbol, side, quantity } of rows) {
    const amount = parseAmount(quantity) ?? 0n
    held.set(symbol, (held.get(symbol) ?? 0n) + (side === 'sell' ? -amount : amount))
    if ((held.get(symbol) ?? 0n) < 0n) world.fault(`more of ${symbol} was sold than was held`)
  }
  const counted = new Map<string, number>()
  for (const { uid, symbol, shares, state } of portfolio.bookings) {
    const times = rows.filter((row) => row.uid === uid).length
    if (times !== (state === 'booked' ? 1 : 0)) world.fault(`${uid} is ${state} and stands in the book ${times} times`)
    if (state === 'booked') counted.set(symbol, (counted.get(symbol) ?? 0) + shares)
  }
  for (const [symbol, amount] of held)
    if (formatAmount(amount) !== String(counted.get(symbol) ?? 0))
      world.fault(`the book has ${formatAmount(amount)} of ${symbol}, and ${counted.get(symbol)} were acknowledged`)
}

/**
 * An alert tells of a price beyond the line, and of one on this side of it since the last one. A price may change in the very moment
 * of a look, as nothing that happens takes time here: then either is right.
 */
function judgeAlerts({ world, alerts, database, owners }: Schedule): void {
  const query = `SELECT data_timestamp AS at, observed FROM alert_triggers
    WHERE owner = ? AND status = 'triggered' ORDER BY id`
  for (const owner of owners) {
    let last = 0
    for (const { at, observed } of database.read<{ at: string; observed: number }>(query, owner)) {
      const moment = Date.parse(at)
      const between = alerts.prices.filter((one) => one.at >= last && one.at <= moment)
      const before = between.filter((one) => one.at < moment).slice(-1)
      const then = [...before, ...between.filter((one) => one.at === moment)]
      if (observed !== 11 || (then.length > 0 && !then.some(({ price }) => price === 11)))
        world.fault(`an alert of ${owner} tells of ${observed} at ${at}`)
      if (last > 0 && !between.some(({ price }) => price === 10)) world.fault(`an alert of ${owner} fired twice: ${at}`)
      last = moment
    }
  }
}

/** The list of conversations shows the newest state. */
function judgeIndex({ world, chat, database }: Schedule): void {
  const [row] = database.read<{ num_connections: number }>(
    "SELECT num_connections FROM conversations WHERE id = 'chat'",
  )
  const { last } = chat.object.log
  if (row?.num_connections !== last) world.fault(`the index tells of event ${row?.num_connections} and not of ${last}`)
}
