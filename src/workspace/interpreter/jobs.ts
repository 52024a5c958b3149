// `cmd &`, which here runs at once and has ended when the next command begins, and `wait`, which tells how it ended.

import type { StepResult } from './shape.ts'

export class Jobs {
  readonly #ended: { pid: number; exitCode: number; isTold: boolean }[] = []

  ended(pid: number, exitCode: number): void {
    this.#ended.push({ pid, exitCode, isTold: false })
  }

  /** The command `wait`. */
  wait(args: readonly string[]): StepResult {
    const isNext = args[0] === '-n'
    const named = args.filter((arg) => !arg.startsWith('-'))
    const unknown = args.find((arg) => arg.startsWith('-') && !/^-[nf]$|^--$/.test(arg))
    if (unknown !== undefined)
      return { stdout: '', stderr: `bash: wait: option ${unknown} is not available here\n`, exitCode: 2 }
    if (isNext && named.length === 0) {
      const next = this.#ended.find(({ isTold }) => !isTold)
      if (next) next.isTold = true
      return { stdout: '', stderr: '', exitCode: next?.exitCode ?? 127 }
    }
    const result = { stdout: '', stderr: '', exitCode: 0 }
    for (const name of named) {
      const job = name.startsWith('%') ? this.#ended[Number(name.slice(1)) - 1] : this.#byPid(name)
      result.exitCode = job?.exitCode ?? 127
      if (job) job.isTold = true
      else if (name.startsWith('%')) result.stderr += `bash: wait: ${name}: no such job\n`
      else if (/^\d+$/.test(name)) result.stderr += `bash: wait: pid ${name} is not a child of this shell\n`
      else result.stderr += `bash: wait: \`${name}': not a pid or valid job spec\n`
    }
    if (named.length === 0) for (const job of this.#ended) job.isTold = true
    return result
  }

  #byPid(name: string) {
    return this.#ended.find(({ pid }) => String(pid) === name)
  }
}
