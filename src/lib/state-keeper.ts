// The process that keeps the files of a local service knows what the runtime does not tell: that the disk is full, or that
// the file of an object is damaged. Only `npm start` has such a keeper; the platform manages its own disks.

/** `GET /disk`. */
export type DiskReport = {
  /** What is wrong, as a clause; null when there is room and it can be written to. */
  trouble: string | null
}

/** `GET /objects/<class>/<id>`; a DELETE removes the file if it is damaged, and tells what was wrong with it. */
export type ObjectReport = {
  /** What SQLite says about it; null for a sound file, or none. */
  damage: string | null
  /** Its path in the state folder. */
  file: string
}

/** `GET /stored/<class>/<id>`. */
export type StoredReport = { isStored: boolean }

type Keeper = { fetch: (url: string, init: { method: string }) => Promise<Response> }

/** The trouble with the disk; null when there is none, or it cannot be known. */
export async function diskTrouble(env: object): Promise<string | null> {
  const keeper = keeperOf(env)
  return keeper === null ? null : (await asked<DiskReport>(keeper, '/disk')).trouble
}

/** The damage of an object's file; null when it has none, or it cannot be known. */
export async function objectDamage(env: object, place: string): Promise<ObjectReport | null> {
  const keeper = keeperOf(env)
  const report = keeper === null ? null : await asked<ObjectReport>(keeper, `/objects/${place}`)
  return report === null || report.damage === null ? null : report
}

/** Whether an object has a file; true where it cannot be known. */
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
