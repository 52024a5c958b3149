// The folder of one host: its socket, the sockets of its processes, and their configuration. Other users have no access.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listProcesses, signalIfThere } from '../start/processes.ts'

const PREFIX = 'host-'
/** The maximum length of a socket path, on the system with the lowest limit. */
const MAX_SOCKET_PATH_BYTES = 103
const LONGEST_NAME = '/program-000000.sock'

/** Creates one within the folder, or in the temporary folder if the path would be too long for a socket. */
export function makeOwnFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  clearAway(folder)
  const prefix = `${PREFIX}${process.pid}-`
  const fits = Buffer.byteLength(`${folder}/${prefix}XXXXXX${LONGEST_NAME}`) <= MAX_SOCKET_PATH_BYTES
  // It is made with 0700, whatever the folder around it is.
  return mkdtempSync(fits ? join(folder, prefix) : join(tmpdir(), `bellwether-${prefix}`))
}

/** Leftovers of hosts that were killed together with their guardians. */
function clearAway(folder: string): void {
  const left = readdirSync(folder).filter((name) => {
    const pid = Number(/^host-(\d+)-/.exec(name)?.[1])
    return pid > 0 && pid !== process.pid && !signalIfThere(pid, 0)
  })
  if (left.length === 0) return
  const running = listProcesses()
  for (const name of left) {
    const path = join(folder, name)
    for (const { pid, command } of running) if (command.includes(`=unix:${path}/`)) signalIfThere(pid, 'SIGKILL')
    if (existsSync(path)) rmSync(path, { recursive: true, force: true })
  }
}
