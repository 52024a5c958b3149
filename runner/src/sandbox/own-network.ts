// The network of one conversation: a namespace with only a loopback, held by a process that lives as long as the
// conversation. All its sandboxes are in it, so that a browser reaches the shell's servers. The holder is in none of
// the sandboxes, so programs there cannot end it. It also contains the way out, a port that leads to the runner's
// proxy. The runner can list and reach the servers from outside, without a port of its machine.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, lstatSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Folder, isCode } from '../sync/folder.ts'
import { onPath } from '../tools.ts'
import { bwrapCommand, RUN_INSIDE, SANDBOX_ENV, SANDBOX_PATH } from './bwrap.ts'

export const PROXY_PORT = 3128
/** The range of ports that the system assigns: servers there are for programs, not for users. */
const CHOSEN_BY_SYSTEM = { from: 32_768, to: 60_999 }
const MAX_PORTS = 100
const START_MS = 5_000
const RELAY_MS = 3_000
const MAX_CONNECTIONS = 128

type Listening = { readonly port: number; readonly at: `TCP4:${string}` | 'TCP6:[::1]' }
export type OwnNetworkDeps = {
  /** The runner's own folder, which no sandbox can access. */
  readonly folder: string
  /** Contains the socket of the proxy. */
  readonly run: string
  readonly hasProxy: boolean
}

export class OwnNetwork {
  readonly #deps: OwnNetworkDeps
  readonly #relays = new Map<string, ChildProcess>()
  readonly #folder: Folder
  #holder: { child: ChildProcess; pid: number } | null = null

  constructor(deps: OwnNetworkDeps) {
    this.#deps = deps
    rmSync(deps.folder, { recursive: true, force: true })
    mkdirSync(deps.folder, { recursive: true, mode: 0o700 })
    this.#folder = Folder.root(deps.folder)
  }

  /** Whether this machine allows an ordinary user to create and enter such a network. */
  static worksHere(): boolean {
    const command = `${bwrapCommand()} ${HOLDER_ARGS.join(' ')} -- true`
    const { status } = spawnSync('sh', ['-c', `exec ${command}`], { timeout: START_MS })
    return status === 0 && nsenter() !== null && onPath('socat', process.env.PATH ?? SANDBOX_PATH) !== null
  }

  /** The prefix for a command that must run in it. */
  enter(): string[] {
    return [nsenter() ?? 'nsenter', '-t', String(this.#pid()), '-U', '-n', '--preserve-credentials', '--']
  }

  /** The servers that users may view. */
  ports(): number[] {
    const ports = this.#listening().map(({ port }) => port)
    return [...new Set(ports)].sort((a, b) => a - b).slice(0, MAX_PORTS)
  }

  /** Rejects if nothing listens there. */
  async connect(port: number): Promise<Socket> {
    const found = this.#listening().find((one) => one.port === port)
    if (found === undefined) throw new Error(`nothing listens on port ${port}`)
    const name = this.#relayTo(found)
    for (const since = performance.now(); ; await delay(5)) {
      const socket = await connected(this.#folder.at(name)).catch((error) => {
        // The relay has just been started.
        const isEarly = isCode(error, 'ENOENT') || isCode(error, 'ECONNREFUSED')
        if (isEarly && performance.now() - since < RELAY_MS) return null
        throw error
      })
      if (socket !== null) return socket
    }
  }

  end(): void {
    for (const child of this.#relays.values()) child.kill('SIGKILL')
    this.#holder?.child.kill('SIGKILL')
    this.#holder = null
    this.#folder.close()
  }

  #listening(): Listening[] {
    if (this.#holder === null || this.#holder.child.exitCode !== null) return []
    const { pid } = this.#holder
    const found = [...listenersIn(textOf(`/proc/${pid}/net/tcp`)), ...listenersIn(textOf(`/proc/${pid}/net/tcp6`))]
    return found.filter(({ port }) => {
      const isForPrograms = port >= CHOSEN_BY_SYSTEM.from && port <= CHOSEN_BY_SYSTEM.to
      return !isForPrograms && !(this.#deps.hasProxy && port === PROXY_PORT)
    })
  }

  /** One process for each port, which is in the network and listens on a file that only the runner can access. */
  #relayTo({ port, at }: Listening): string {
    const name = `${at.replaceAll(/\W/g, '_')}-${port}`
    if (this.#relays.has(name)) return name
    rmSync(this.#folder.at(name), { force: true })
    const [command = '', ...args] = [
      ...this.enter(),
      'socat',
      ...['-t', '0.05', `UNIX-LISTEN:${name},fork,mode=600,max-children=${MAX_CONNECTIONS}`, `${at}:${port}`],
    ]
    const child = spawn(command, args, { cwd: this.#deps.folder, stdio: 'ignore' })
    const gone = () => {
      if (this.#relays.get(name) === child) this.#relays.delete(name)
    }
    child.on('exit', gone)
    child.on('error', gone)
    this.#relays.set(name, child)
    return name
  }

  #pid(): number {
    const holder = this.#holder
    if (holder !== null && holder.child.exitCode === null && holder.child.signalCode === null) return holder.pid
    this.#holder = this.#start()
    return this.#holder.pid
  }

  /** Returns after the process is in its network: this waits for a process start, about 10 ms, and blocks. */
  #start(): { child: ChildProcess; pid: number } {
    const { run, hasProxy, folder } = this.#deps
    const program = hasProxy
      ? ['socat', `TCP-LISTEN:${PROXY_PORT},fork,reuseaddr,bind=127.0.0.1`, `UNIX-CONNECT:${RUN_INSIDE}/proxy.sock`]
      : ['sleep', 'infinity']
    const news = `${folder}/news`
    const fd = openSync(news, 'w', 0o600)
    const args = [...HOLDER_ARGS, '--ro-bind', run, RUN_INSIDE, '--info-fd', '3', '--', ...program]
    const child = spawn(bwrapCommand(), args, {
      env: { ...SANDBOX_ENV },
      cwd: '/',
      stdio: ['ignore', 'ignore', 'ignore', fd],
    })
    closeSync(fd)
    child.on('error', () => {})
    const nap = new Int32Array(new SharedArrayBuffer(4))
    for (const since = performance.now(); performance.now() - since < START_MS; Atomics.wait(nap, 0, 0, 2)) {
      const pid = Number(/"child-pid": (\d+)/.exec(textOf(news))?.[1])
      if (pid > 0 && textOf(`/proc/${pid}/comm`).trim() === program[0]) return { child, pid }
    }
    child.kill('SIGKILL')
    throw new Error('the network of the conversation did not start')
  }
}

/** Without its own user and devices: either would create a second user namespace, which the runner could not enter. */
const HOLDER_ARGS = [
  '--die-with-parent',
  ...['--unshare-user', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--cap-drop', 'ALL'],
  ...['--ro-bind', '/usr', '/usr', ...['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'].flatMap(systemFolder)],
  ...['--dir', '/run', '--chdir', '/'],
]

function systemFolder(name: string): string[] {
  const path = `/${name}`
  if (!existsSync(path)) return []
  return lstatSync(path).isSymbolicLink() ? ['--symlink', `usr/${name}`, path] : ['--ro-bind', path, path]
}

function nsenter(): string | null {
  return onPath('nsenter', process.env.PATH ?? SANDBOX_PATH)
}

/** The entries of the kernel's table that listen on addresses reachable through the loopback. */
function* listenersIn(table: string): Generator<Listening> {
  for (const line of table.split('\n')) {
    const [, address = '', port = ''] =
      /^\s*\d+: ([0-9A-F]{8,32}):([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} 0A /.exec(line) ?? []
    if (address === '') continue
    const isV6Loopback = address === '00000000000000000000000001000000'
    const v4 = /^(?:0{16}FFFF0000)?([0-9A-F]{2})([0-9A-F]{2})([0-9A-F]{2})7F$/.exec(address)?.slice(1) ?? []
    if (!isV6Loopback && !/^0+$/.test(address) && v4.length === 0) continue
    // The kernel prints the bytes of an address in reverse order.
    const loopback =
      v4.length === 0 ? '127.0.0.1' : ['7F', ...v4.reverse()].map((byte) => Number.parseInt(byte, 16)).join('.')
    yield { port: Number.parseInt(port, 16), at: isV6Loopback ? 'TCP6:[::1]' : `TCP4:${loopback}` }
  }
}

/** Empty for a process that has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT') || isCode(error, 'ESRCH') || isCode(error, 'EACCES')) return ''
    throw error
  }
}

function connected(path: string): Promise<Socket> {
  const socket = connect(path)
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })
}
