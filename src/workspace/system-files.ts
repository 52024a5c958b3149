// What a script finds outside the workspace's own tree: `/bin` and `/usr/bin` with the commands there are, and a few
// devices. None of it is stored, and none of it can be changed.

export type SystemFile = { kind: 'directory'; names: string[] } | { kind: 'file'; mode: number; device: Device }

interface Device {
  read(): Uint8Array
  /** Absent where nothing can be written. */
  write?(text: string): void
}

/** A device without end is read as this much of it. */
const ENDLESS_BYTES = 64 * 1024

const EMPTY = new Uint8Array()

export class SystemFiles {
  readonly #files = new Map<string, SystemFile>()

  constructor(commands: readonly string[], show: (text: string) => void) {
    const terminal: Device = { read: () => EMPTY, write: show }
    const random: Device = { read: () => crypto.getRandomValues(new Uint8Array(ENDLESS_BYTES)), write: () => undefined }
    this.#folder('/bin', executables(commands))
    this.#folder('/usr', {})
    this.#folder('/usr/bin', executables(commands))
    this.#folder('/dev', {
      null: { read: () => EMPTY, write: () => undefined },
      zero: { read: () => new Uint8Array(ENDLESS_BYTES), write: () => undefined },
      random,
      urandom: random,
      stdin: { read: () => EMPTY },
      stdout: terminal,
      stderr: terminal,
      tty: terminal,
    })
    this.#files.set('/usr', { kind: 'directory', names: ['bin'] })
  }

  at(path: string): SystemFile | null {
    return this.#files.get(path) ?? null
  }

  /** Whether the path belongs here, be there something or not. */
  owns(path: string): boolean {
    return /^\/(bin|usr|dev)(\/|$)/.test(path)
  }

  #folder(path: string, files: Record<string, Device>): void {
    const names = Object.keys(files)
    this.#files.set(path, { kind: 'directory', names })
    for (const name of names) {
      const device = files[name]
      if (device) this.#files.set(`${path}/${name}`, { kind: 'file', mode: device.write ? 0o666 : 0o755, device })
    }
  }
}

function executables(commands: readonly string[]): Record<string, Device> {
  return Object.fromEntries(commands.map((name) => [name, { read: () => encoder.encode(`# ${name} is built in\n`) }]))
}

const encoder = new TextEncoder()
