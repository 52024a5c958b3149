// The process that manages the files of a local service knows what the runtime does not report: that the disk is full,
// or that the file of an object is damaged. Only `npm start` has such a state keeper; the platform manages its own
// disks.

/** `GET /disk`. */
export type DiskReport = {
  /** The problem, as a clause; null when the disk is writable and has room. */
  trouble: string | null
}

/** `GET /objects/<class>/<id>`; a DELETE removes the file if it is damaged, and reports the damage. */
export type ObjectReport = {
  /** SQLite's message about the file; null for an intact or missing file. */
  damage: string | null
  /** Its path in the state folder. */
  file: string
}

/** `GET /stored/<class>/<id>`. */
export type StoredReport = { isStored: boolean }

type Keeper = { fetch: (url: string, init: { method: string }) => Promise<Response> }

/** The problem with the disk; null when there is none, or it is unknown. */
export async function diskTrouble(env: object): Promise<string | null> {
  const keeper = keeperOf(env)
  return keeper === null ? null : (await asked<DiskReport>(keeper, '/disk')).trouble
}

/** The damage of an object's file; null when there is none, or it is unknown. */
export async function objectDamage(env: object, place: string): Promise<ObjectReport | null> {
  const keeper = keeperOf(env)
  const report = keeper === null ? null : await asked<ObjectReport>(keeper, `/objects/${place}`)
  return report === null || report.damage === null ? null : report
}

/** Whether an object has a file; true when it is unknown. */
export async function isObjectStored(env: object, place: string): Promise<boolean> {
  const keeper = keeperOf(env)
  return keeper === null || (await asked<StoredReport>(keeper, `/stored/${place}`)).isStored
}

/** Removes the file of an object if it is damaged; false when nothing was removed. */
export async function removeDamaged(env: object, place: string): Promise<boolean> {
  const keeper = keeperOf(env)
  if (keeper === null) return false
  return (await asked<ObjectReport>(keeper, `/objects/${place}`, 'DELETE')).damage !== null
}

async function asked<T>(keeper: Keeper, path: string, method = 'GET'): Promise<T> {
  const reply = await keeper.fetch(`http://state${path}`, { method })
  if (!reply.ok) throw new Error(`the keeper of the state answered ${reply.status}: ${await reply.text()}`)
  return (await reply.json()) as T
}

function keeperOf(env: object): Keeper | null {
  return 'STATE' in env && isFetcher(env.STATE) ? env.STATE : null
}

function isFetcher(binding: unknown): binding is Keeper {
  return typeof binding === 'object' && binding !== null && 'fetch' in binding
}
