// A repository at a git host of the tests.

import type { GitServer } from '../support/git-server.ts'

/** A repository of one commit at the host, which takes no push to the branch `locked`; what git says there of later ones. */
export async function hosted(host: GitServer, name: string): Promise<(...args: string[]) => Promise<string>> {
  const order = async (body: object): Promise<string> => {
    const reports = await (await fetch(`${host.url}/order`, { method: 'POST', body: JSON.stringify(body) })).json()
    return Buffer.from((reports as { stdoutBase64: string }[]).at(-1)?.stdoutBase64 ?? '', 'base64').toString()
  }
  const hook = 'if [ "$1" = refs/heads/locked ]; then echo "GH006: Protected branch update failed"; exit 1; fi'
  await order({
    cwd: 'work',
    git: [['init', '-q', '-b', 'main']],
    files: [{ path: 'work/a.txt', base64: btoa('one') }],
  })
  await order({
    cwd: 'work',
    git: [
      ['add', '-A'],
      ['commit', '-qm', 'first'],
      ['clone', '-q', '--bare', '.', `../${name}.git`],
    ],
  })
  await order({ files: [{ path: `${name}.git/hooks/update`, base64: btoa(`#!/bin/sh\n${hook}\n`), executable: true }] })
  return (...args) => order({ cwd: `${name}.git`, git: [args] })
}
