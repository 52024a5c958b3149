// A host that is killed (SIGKILL) cannot end its processes, and a runtime does not notice that its host is gone. So one small shell, in a
// separate session, reads a pipe from the host and knows the running processes; when the pipe ends, it ends them.

import { type ChildProcess, spawn } from 'node:child_process'

const SCRIPT = `alive=' '
while read -r change pid; do
  case $change in
    +) alive="$alive$pid " ;;
    -) case $alive in *" $pid "*) alive="\${alive%% $pid *} \${alive#* $pid }" ;; esac ;;
  esac
done
for pid in $alive; do kill -9 "$pid"; done 2>/dev/null
rm -rf -- "$1"`

export class Guardian {
  readonly #folder: string
  readonly #watched = new Set<number>()
  #child: ChildProcess
  #isStopped = false

  /** The folder is deleted after the host has exited. */
  constructor(folder: string) {
    this.#folder = folder
    this.#child = this.#start()
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  watch(pid: number): void {
    this.#watched.add(pid)
    this.#tell(`+ ${pid}\n`)
  }

  forget(pid: number): void {
    this.#watched.delete(pid)
    this.#tell(`- ${pid}\n`)
  }

  /** It waits only for the end of the pipe. */
  async stop(): Promise<void> {
    this.#isStopped = true
    const gone = new Promise((resolve) => this.#child.once('exit', resolve))
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.ref()
    this.#child.stdin?.end()
    await gone
  }

  #tell(line: string): void {
    this.#child.stdin?.write(line)
  }

  #start(): ChildProcess {
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', this.#folder], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    // The exit event reports a killed guardian, so write errors are ignored.
    child.stdin?.on('error', () => {})
    child.on('error', () => {})
    child.once('exit', () => {
      if (this.#isStopped) return
      this.#child = this.#start()
      for (const pid of this.#watched) this.#tell(`+ ${pid}\n`)
    })
    child.unref()
    return child
  }
}
