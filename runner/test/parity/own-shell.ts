// The machine's own bash under a terminal as large as a session's: what a person would see who typed the command.

import { type IPty, spawn } from '@lydell/node-pty'

/** `isEnded`: false for a command that waits for somebody, or never ends. */
export type OwnAnswer = { output: string; exitCode: number; isEnded: boolean }

const END_WITHIN_MS = 8_000

/** A terminal that outlives its command by a moment: output that is still on its way. */
export function ownAnswer(
  text: string,
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<OwnAnswer> {
  const terminal = spawn('bash', ['--norc', '--noprofile', '-c', `stty -echo -onlcr\n${text}`], {
    name: 'dumb',
    cols: 200,
    rows: 50,
    cwd,
    env,
    encoding: null,
  })
  const pieces: Buffer[] = []
  // Without an encoding the terminal gives bytes, which its types do not know.
  terminal.onData((data) => pieces.push(data as unknown as Buffer))
  let isEnded = true
  const timer = setTimeout(() => {
    isEnded = false
    endAll(terminal)
  }, END_WITHIN_MS)
  return new Promise((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      clearTimeout(timer)
      const status = signal !== undefined && signal > 0 ? 128 + signal : exitCode
      resolve({ output: Buffer.concat(pieces).toString(), exitCode: status, isEnded })
    })
  })
}

/** The session of the terminal and all that it started. */
function endAll(terminal: IPty): void {
  process.kill(-terminal.pid, 'SIGKILL')
}
