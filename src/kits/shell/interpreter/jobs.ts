// `cmd &`, which here runs at once and has ended before the next command starts, and `wait`, which returns its status.

import type { StepResult } from './shape.ts'

export class Jobs {
  readonly #ended: { pid: number; exitCode: number; isTold: boolean }[] = []

  /** Of the last `wait` for one job. */
  lastTold: number | null = null

  ended(pid: number, exitCode: number): void {
    this.#ended.push({ pid, exitCode, isTold: false })
  }

  /** The command `wait`. */
  wait(args: readonly string[]): StepResult {
    const isNext = args.includes('-n')
    this.lastTold = null
    const named = args.filter((arg) => !arg.startsWith('-'))
    const unknown = args.find((arg) => arg.startsWith('-') && !/^-[nf]$|^--$/.test(arg))
    if (unknown !== undefined)
      return { stdout: '', stderr: `bash: wait: option ${unknown} is not available here\n`, exitCode: 2 }
    if (isNext && named.length === 0) {
      const next = this.#ended.find(({ isTold }) => !isTold)
      if (next) next.isTold = true
      this.lastTold = next?.pid ?? null
      return { stdout: '', stderr: '', exitCode: next?.exitCode ?? 127 }
    }
    const result = { stdout: '', stderr: '', exitCode: 0 }
    for (const name of named) {
      const job = this.#named(name)
      result.exitCode = job?.exitCode ?? 127
      this.lastTold = job?.pid ?? null
      if (job) job.isTold = true
      else if (name.startsWith('%')) result.stderr += `bash: wait: ${name}: no such job\n`
      else if (/^\d+$/.test(name)) result.stderr += `bash: wait: pid ${name} is not a child of this shell\n`
      else result.stderr += `bash: wait: \`${name}': not a pid or valid job spec\n`
    }
    if (named.length === 0) for (const job of this.#ended) job.isTold = true
    return result
  }

  /** The command `disown`: a finished job that was not waited for counts as a job. */
  disown(args: readonly string[]): StepResult {
    const named = args.filter((arg) => !arg.startsWith('-'))
    if (args.some((arg) => /^-\w*[ar]/.test(arg))) return { stdout: '', stderr: '', exitCode: 0 }
    const jobs =
      named.length > 0 ? named.map((name) => this.#named(name)) : [this.#ended.findLast((job) => !job.isTold)]
    const missing = jobs.indexOf(undefined)
    for (const job of jobs) if (job) job.isTold = true
    if (missing < 0) return { stdout: '', stderr: '', exitCode: 0 }
    const stderr = `bash: disown: ${named[missing] ?? 'current'}: no such job\n`
    return { stdout: '', stderr, exitCode: 1 }
  }

  #named(name: string) {
    return name.startsWith('%') ? this.#ended[Number(name.slice(1)) - 1] : this.#byPid(name)
  }

  #byPid(name: string) {
    return this.#ended.find(({ pid }) => String(pid) === name)
  }
}
