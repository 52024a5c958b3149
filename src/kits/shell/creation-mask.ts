// `umask`: the permission bits removed from new files and folders. The file tree applies the default mask; with another
// mask, new files get their permissions here, whichever command creates them.

import { DIRECTORY_MODE, type FileSystem } from '../../workspace/file-system.ts'
import { modeChange, octalMode } from './commands/files/modes.ts'

const USUAL = 0o777 & ~DIRECTORY_MODE
const ALL = 0o777
const FOR_FILES = 0o666

type Answer = { stdout: string; stderr: string; exitCode: number }

export class CreationMask {
  #bits = USUAL

  get bits(): number {
    return this.#bits
  }

  /** When a shell with its own mask ends. */
  restore(bits: number): void {
    this.#bits = bits
  }

  /** The command. */
  run(args: readonly string[]): Answer {
    const options = args.filter((arg) => /^-[pS]+$/.test(arg)).join('')
    const [given, ...others] = args.filter((arg) => !/^-[pS]+$/.test(arg) && arg !== '--')
    if (others.length > 0 || given?.startsWith('-')) return failure(`${others[0] ?? given}: not available here`)
    if (given === undefined) {
      const shown = options.includes('S') ? symbolic(ALL & ~this.#bits) : octalMode(this.#bits)
      return answer(`${options.includes('p') ? `umask ${options.includes('S') ? '-S ' : ''}` : ''}${shown}\n`)
    }
    const bits = this.#read(given)
    if (bits === null) return failure(`${given}: ${/^\d/.test(given) ? 'octal number out of range' : 'invalid mode'}`)
    this.#bits = bits
    return answer(options.includes('S') ? `${symbolic(ALL & ~bits)}\n` : '')
  }

  #read(given: string): number | null {
    if (/^\d/.test(given)) return /^[0-7]{1,4}$/.test(given) ? Number.parseInt(given, 8) & ALL : null
    const change = modeChange(given, 0)
    return change && ALL & ~change(ALL & ~this.#bits, false)
  }

  /** The tree as commands see it. */
  over(fs: FileSystem): FileSystem {
    const own: Partial<FileSystem> = {
      write: (path, bytes, options) => fs.write(path, bytes, this.#options(options)),
      append: (path, bytes) =>
        this.#isUsual || fs.exists(path) ? fs.append(path, bytes) : fs.write(path, bytes, this.#options()),
      makeDirectory: (path, options) => this.#makeDirectory(fs, path, options),
      stage: async (parts) => {
        const staged = await fs.stage(parts)
        return {
          sizeBytes: staged.sizeBytes,
          place: (path, mode) => staged.place(path, this.#isUsual ? mode : this.#mode(mode)),
          release: () => staged.release(),
        }
      },
    }
    return new Proxy(fs, {
      get: (target, name) => {
        const value: unknown = Reflect.get(own, name) ?? Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  get #isUsual(): boolean {
    return this.#bits === USUAL
  }

  #mode(given = FOR_FILES): number {
    return given & ~this.#bits
  }

  #options(options?: { mode?: number }): { mode?: number } | undefined {
    return this.#isUsual ? options : { mode: this.#mode(options?.mode) }
  }

  #makeDirectory(fs: FileSystem, path: string, options?: { recursive?: boolean }): void {
    const made: string[] = []
    if (!this.#isUsual) {
      for (let at = path; at !== '' && !fs.exists(at); at = at.slice(0, at.lastIndexOf('/'))) made.push(at)
    }
    fs.makeDirectory(path, options)
    for (const folder of made) fs.chmod(folder, ALL & ~this.#bits)
  }
}

/** `u=rwx,g=rx,o=rx`. */
function symbolic(allowed: number): string {
  const letters = (bits: number) => [...'rwx'].filter((_, i) => (bits & (4 >> i)) !== 0).join('')
  return `u=${letters(allowed >> 6)},g=${letters(allowed >> 3)},o=${letters(allowed)}`
}

const answer = (stdout: string): Answer => ({ stdout, stderr: '', exitCode: 0 })
const failure = (message: string): Answer => ({ stdout: '', stderr: `bash: umask: ${message}\n`, exitCode: 1 })
