// A shell with git, and somebody else who works on the same repository.

import { type GitRemotes, gitCommand } from '../../../../src/kits/git/index.ts'
import { runScript } from '../../../../src/kits/shell/index.ts'
import { LOOPBACK_REMOTES, orderGit, toBase64 } from '../../../helpers/git-host.ts'
import { openStore } from '../../workspace/open-store.ts'

export const REMOTES: GitRemotes = LOOPBACK_REMOTES

/** A shell with git over a durable workspace; each script starts where the last one ended. */
export function openShell(name: string, remotes: GitRemotes = REMOTES) {
  const store = openStore(name)
  let state = { cwd: '/workspace', env: {} as Record<string, string>, variables: {} as Record<string, string> }
  const run = (script: string) =>
    store.use(async (fs) => {
      const commands = [gitCommand(remotes)]
      const { cwd, env, variables, output, exitCode } = await runScript({ fs, script, ...state, commands })
      state = { cwd, env, variables }
      return { output, exitCode }
    })
  return { ...store, run, out: async (script: string) => (await run(script)).output }
}

/** Somebody else's commit on a branch of the repository. */
export async function commitElsewhere(folder: string, path: string, content: string, branch = 'main'): Promise<void> {
  const work = `${folder}.other-${crypto.randomUUID().slice(0, 6)}`
  await orderGit({ cwd: '.', git: [['clone', '-q', '-b', branch, folder, work]] })
  await orderGit({
    cwd: work,
    files: [{ path: `${work}/${path}`, base64: toBase64(content) }],
    git: [
      ['add', '-A'],
      ['commit', '-qm', `${path} from elsewhere`],
      ['push', '-q'],
    ],
  })
}
