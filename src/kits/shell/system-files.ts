// The files outside the workspace's own tree: `/bin` and `/usr/bin` with the available commands, and a few devices.
// None of them is stored, and none can be changed.

import { type FileSystem, FileSystemError, isFileError, MAX_LINKS_FOLLOWED } from '../../workspace/file-system.ts'
import { resolvePath } from '../../workspace/paths.ts'
import { NOWHERE } from './named-path.ts'

export type SystemFile = { kind: 'directory'; names: string[] } | { kind: 'file'; mode: number; device: Device }
export type FoundSystemFile = { path: string; file: SystemFile }

interface Device {
  /** Absent for a program. */
  numbers?: readonly [major: number, minor: number]
  read(): Uint8Array
  /** Absent if it cannot be written. */
  write?(text: string): void
}

/** An endless device is read as this much of it. */
const ENDLESS_BYTES = 1024 * 1024

const EMPTY = new Uint8Array()

export const ROOT_FOLDERS = ['bin', 'dev', 'usr'] as const

export class SystemFiles {
  readonly #files = new Map<string, SystemFile>()

  constructor(commands: readonly string[], show: (text: string) => void) {
    const nothing = () => undefined
    const terminal: Device = { numbers: [5, 0], read: () => EMPTY, write: show }
    this.#folder('/bin', executables(commands))
    this.#folder('/usr', {})
    this.#folder('/usr/bin', executables(commands))
    this.#folder('/dev', {
      null: { numbers: [1, 3], read: () => EMPTY, write: nothing },
      zero: { numbers: [1, 5], read: () => new Uint8Array(ENDLESS_BYTES), write: nothing },
      random: { numbers: [1, 8], read: randomBytes, write: nothing },
      urandom: { numbers: [1, 9], read: randomBytes, write: nothing },
      stdin: { numbers: [5, 0], read: () => EMPTY },
      stdout: terminal,
      stderr: terminal,
      tty: terminal,
    })
    this.#files.set('/usr', { kind: 'directory', names: ['bin'] })
  }

  at(path: string): SystemFile | null {
    return this.#files.get(path) ?? null
  }

  /** A file for a process substitution, while the command that uses it runs. */
  hold(path: string, bytes: Uint8Array): void {
    let held = bytes
    const write = (text: string) => {
      held = encoder.encode(text)
    }
    this.#files.set(path, { kind: 'file', mode: 0o600, device: { read: () => held, write } })
  }

  release(path: string): boolean {
    return isDescriptor(path) && this.#files.delete(path)
  }

  /** The system file that is the target of a link in the workspace's tree, if it is one. */
  behindLink(path: string, files: FileSystem): FoundSystemFile | null {
    let at = path
    for (let hops = 0; hops < MAX_LINKS_FOLLOWED; hops++) {
      const target = linkTarget(files, at)
      if (target === null) return null
      at = resolvePath(resolvePath(at, '..'), target)
      const file = this.at(at)
      if (file) return { path: at, file }
    }
    return null
  }

  /** Whether the path is in one of these folders, even if it does not exist. */
  owns(path: string): boolean {
    return /^\/(bin|usr|dev)(\/|$)/.test(path)
  }

  /** Nothing in these folders can be created, changed or deleted. */
  refuse(path: string): void {
    if (this.owns(path)) throw new FileSystemError(path === NOWHERE ? 'ENOENT' : 'EROFS', path)
  }

  #folder(path: string, files: Record<string, Device>): void {
    const names = Object.keys(files)
    this.#files.set(path, { kind: 'directory', names })
    for (const name of names) {
      const device = files[name]
      if (device) this.#files.set(`${path}/${name}`, { kind: 'file', mode: device.numbers ? 0o666 : 0o755, device })
    }
  }
}

/** Those created by the shell itself. */
export function isDescriptor(path: string): boolean {
  const [, number] = /^\/dev\/fd\/(\d+)$/.exec(path) ?? []
  return number !== undefined && Number(number) > 2 && Number(number) < 64
}

/** The maximum that the runtime returns at once. */
const RANDOM_PIECE = 65_536

function randomBytes(): Uint8Array {
  const bytes = new Uint8Array(ENDLESS_BYTES)
  for (let at = 0; at < bytes.length; at += RANDOM_PIECE) crypto.getRandomValues(bytes.subarray(at, at + RANDOM_PIECE))
  return bytes
}

function linkTarget(files: FileSystem, path: string): string | null {
  try {
    return files.lstat(path).kind === 'symlink' ? files.readLink(path) : null
  } catch (error) {
    if (isFileError(error)) return null
    throw error
  }
}

function executables(commands: readonly string[]): Record<string, Device> {
  return Object.fromEntries(commands.map((name) => [name, { read: () => encoder.encode(`# ${name} is built in\n`) }]))
}

const encoder = new TextEncoder()
