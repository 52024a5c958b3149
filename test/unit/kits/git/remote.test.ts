import { expect, test } from 'vitest'
import { checkoutFreshBranch, cloneRepository } from '../../../../src/kits/git/index.ts'
import type { FileSystem } from '../../../../src/workspace/file-system.ts'
import { CREDENTIALS, hostRepository, hostUrl, realGit, repositoryUrl } from '../../../helpers/git-host.ts'
import { CLOSED } from '../../../helpers/policies.ts'
import { openStore, text } from '../../workspace/open-store.ts'
import { commitElsewhere, openShell, REMOTES } from './remote-shell.ts'

test('clones, edits, commits and pushes over HTTP, and the git CLI reads the pushed commit back', async () => {
  const folder = await hostRepository({ 'README.md': 'hello\n', 'src/a.txt': 'one\n' })
  const shell = openShell('push')
  expect(await shell.out(`git clone ${repositoryUrl(folder)} work && cd work && git status`)).toBe(
    "Cloning into 'work'...\nOn branch main\nYour branch is up to date with 'origin/main'.\n\nnothing to commit, working tree clean\n",
  )
  await shell.evict()
  const edited = await shell.run(
    'echo two >> src/a.txt; echo new > b.txt; git add -A; git commit -qm "second, from here"; git push',
  )
  expect(edited.exitCode).toBe(0)
  expect(edited.output).toMatch(/^To http.*\n {3}[0-9a-f]{7}\.\.[0-9a-f]{7} {2}main -> main\n$/)
  expect(await realGit(folder, 'log', '--format=%an <%ae> %s', 'main')).toBe(
    'bellwether <bellwether@users.noreply.bellwether.dev> second, from here\nRobin <robin@example.com> first\n',
  )
  expect(await realGit(folder, 'show', 'main:src/a.txt')).toBe('one\ntwo\n')
  expect(await realGit(folder, 'fsck', '--strict')).toBe('')
  expect(await realGit(folder, 'rev-parse', 'main')).toBe(await shell.out('git rev-parse HEAD'))
  expect(await shell.out('git push; which git; git log --oneline | wc -l')).toMatch(
    /^Everything up-to-date\n.*git\n\s*2\n$/,
  )
})

test('fetches and pulls what others pushed, and says how branches stand', async () => {
  const folder = await hostRepository({ a: '1\n' })
  const shell = openShell('pull')
  await shell.run(`git clone -q ${repositoryUrl(folder)} w; cd w`)
  await commitElsewhere(folder, 'b', 'b\n')
  expect(await shell.out('git fetch')).toMatch(
    /^From http.*\n {3}[0-9a-f]{7}\.\.[0-9a-f]{7} {2}main {7}-> origin\/main\n$/,
  )
  expect(await shell.out('git status -sb')).toBe('## main...origin/main [behind 1]\n')
  expect(await shell.out('git pull')).toMatch(
    /^Updating .*\nFast-forward\n b \| 1 \+\n 1 file changed, 1 insertion\(\+\)\n create mode 100644 b\n$/,
  )
  await commitElsewhere(folder, 'c', 'c\n')
  await shell.run('echo mine > m; git add m; git commit -qm mine')
  const refused = await shell.run('git push')
  expect(refused.exitCode).toBe(1)
  expect(refused.output).toContain('! [rejected]')
  expect(await shell.out('git pull')).toContain('Need to specify how to reconcile divergent branches')
  expect(await shell.out('git pull --no-rebase')).toContain("Merge made by the 'ort' strategy.")
  expect(await shell.out('git log -1 --format=%s')).toBe(
    `Merge branch 'main' of ${repositoryUrl(folder).replace(/\.git$/, '')}\n`,
  )
  expect((await shell.run('git push -q')).exitCode).toBe(0)
  expect(await realGit(folder, 'show', '--name-only', '--format=%s', 'main^1')).toContain('mine')
  expect(await shell.out('git pull')).toBe('Already up to date.\n')
  expect(await shell.out('git pull --rebase')).toBe('Already up to date.\n')
  await commitElsewhere(folder, 'd', 'd\n')
  await shell.run('echo more > m2; git add m2; git commit -qm more; echo dirty >> m')
  expect(await shell.run('git pull --rebase')).toMatchObject({
    exitCode: 128,
    output: 'error: cannot pull with rebase: You have unstaged changes.\nerror: please commit or stash them.\n',
  })
  expect(await shell.out('git restore m; git pull -q --rebase; git log -2 --format=%s')).toBe(
    'more\nd from elsewhere\n',
  )
})

test('branches, tags and forced updates reach the remote, and deleted ones leave it', async () => {
  const folder = await hostRepository({ a: '1\n' })
  const shell = openShell('branches')
  await shell.run(`git clone -q ${repositoryUrl(folder)} w; cd w`)
  expect((await shell.run('git switch -qc topic; git push')).output).toContain('has no upstream branch')
  expect(await shell.out('git push -u origin topic')).toBe(
    `branch 'topic' set up to track 'origin/topic'.\nTo ${repositoryUrl(folder)}\n * [new branch]      topic -> topic\n`,
  )
  await shell.run('git commit -q --allow-empty -m one; git tag v1; git tag -a v2 -m two; git push; git push --tags')
  expect(await realGit(folder, 'tag', '-l')).toBe('v1\nv2\n')
  await shell.run('git commit -q --amend --allow-empty -m changed')
  expect((await shell.run('git push')).exitCode).toBe(1)
  expect(await shell.out('git push --force')).toMatch(
    /\+ [0-9a-f]{7}\.\.\.[0-9a-f]{7} topic -> topic \(forced update\)/,
  )
  expect(await realGit(folder, 'log', '-1', '--format=%s', 'topic')).toBe('changed\n')
  expect(await shell.out('git push origin HEAD:refs/heads/other :topic')).toMatch(
    /deleted.*topic[\s\S]*new branch.*other/,
  )
  expect(await realGit(folder, 'branch', '--format=%(refname:short)')).toBe('main\nother\n')
  await commitElsewhere(folder, 'o', 'o\n', 'other')
  expect(
    await shell.out(
      'git fetch -q origin other; git checkout -q --track origin/other; git log -1 --format=%s; git ls-remote --heads',
    ),
  ).toMatch(/^o from elsewhere\n[0-9a-f]{40}\trefs\/heads\/main\n[0-9a-f]{40}\trefs\/heads\/other\n$/)
})

test('credentials come from the caller for the host that asks, or from the address for that command alone, and are stored nowhere', async () => {
  const folder = await hostRepository({ a: '1\n' }, `private/secret-${crypto.randomUUID().slice(0, 6)}.git`)
  const url = repositoryUrl(folder)
  const asked: string[] = []
  const stranger = openShell('stranger')
  const refused = await stranger.run(`git clone ${url} w`)
  expect([refused.exitCode, refused.output]).toEqual([128, expect.stringContaining('could not read Username')])
  const wrong = openShell('wrong', {
    ...REMOTES,
    credentialFor: async () => ({ username: 'robin', password: 'wrong' }),
  })
  expect((await wrong.run(`git clone ${url} w; ls`)).output).toContain('Authentication failed')

  const shell = openShell('owner', {
    ...REMOTES,
    credentialFor: async ({ origin }) => {
      asked.push(origin)
      return CREDENTIALS
    },
  })
  expect((await shell.run(`git clone -q ${url} w; cd w; echo 2 > a; git commit -qam two; git push -q`)).exitCode).toBe(
    0,
  )
  expect(new Set(asked)).toEqual(new Set([hostUrl()]))
  expect(await realGit(folder, 'log', '-1', '--format=%s', 'main')).toBe('two\n')

  const secret = encodeURIComponent(CREDENTIALS.password)
  const withUser = url.replace('http://', `http://${CREDENTIALS.username}:${secret}@`)
  const given = openShell('given')
  expect(
    await given.out(
      `git clone ${withUser} w; cd w; git remote -v; git remote add two ${withUser}; git config remote.three.url ${withUser}; git remote get-url two`,
    ),
  ).not.toContain(secret)
  expect((await given.run('git fetch')).exitCode).toBe(128)
  await given.use(async (fs) => expect(await everyFile(fs, '/')).not.toContain(secret))
  await shell.use(async (fs) => expect(await everyFile(fs, '/')).not.toContain(CREDENTIALS.password))
})

async function everyFile(fs: FileSystem, folder: string): Promise<string> {
  let all = ''
  for (const { name, kind } of fs.list(folder)) {
    const path = `${folder === '/' ? '' : folder}/${name}`
    all += kind === 'directory' ? await everyFile(fs, path) : kind === 'file' ? text(await fs.read(path)) : ''
  }
  return all
}

test('no address gets past the door: private, redirected, other schemes, and those that a configuration names', async () => {
  const shell = openShell('door')
  const closed = openShell('closed', { ...REMOTES, policy: CLOSED })
  const folder = await hostRepository({ a: '1\n' })
  expect((await closed.run(`git clone ${repositoryUrl(folder)}`)).output).toContain('The address is refused')
  for (const url of [
    'http://10.0.0.1/x.git',
    'http://169.254.169.254/latest',
    'https://localhost./x',
    'http://[fd00::1]/x.git',
  ]) {
    expect([url, (await shell.run(`git clone '${url}' x`)).output]).toEqual([
      url,
      expect.stringContaining('The address is refused'),
    ])
  }
  for (const url of ['git@github.com:a/b.git', 'ssh://git@host/x', 'git://host/x', 'ext::sh -c id']) {
    expect([url, (await shell.run(`git clone '${url}' x`)).output]).toEqual([
      url,
      expect.stringMatching(/not available here|no others are available/),
    ])
  }
  // A folder is a remote when it is a repository of the workspace.
  expect((await shell.run('git clone file:///etc x; git clone /workspace x')).output).toMatch(
    /'file:\/\/\/etc' does not appear to be a git repository[\s\S]*repository '\/workspace' does not exist/,
  )
  const redirected = `${hostUrl()}/redirect?to=${encodeURIComponent('http://169.254.169.254/')}&x=`
  expect((await shell.run(`git clone '${redirected}' x; ls -A`)).output).not.toContain('x\n')
  // A configuration that came with files must not lead requests, and what they carry, elsewhere.
  await shell.run(
    `git clone -q ${repositoryUrl(folder)} w; cd w; git config http.corsProxy http://10.0.0.1; git config http.proxy http://10.0.0.1; git config url.http://10.0.0.1/.insteadOf ${hostUrl()}/`,
  )
  expect((await shell.run('git fetch')).output).toBe('')
  expect((await shell.run('git remote set-url origin http://10.0.0.1/x; git fetch')).output).toContain(
    'The address is refused',
  )
})

test('what a repository brings along is never run', async () => {
  const shell = openShell('inert')
  await shell.run(`git init -q w; cd w; echo 1 > a; mkdir -p .git/hooks
for hook in pre-commit commit-msg post-commit post-checkout pre-push post-merge; do printf '#!/bin/sh\\ntouch /tmp/ran-%s\\nexit 1\\n' $hook > .git/hooks/$hook; chmod +x .git/hooks/$hook; done
git config core.fsmonitor 'touch /tmp/ran-fsmonitor'; git config core.sshCommand 'touch /tmp/ran-ssh'; git config alias.st '!touch /tmp/ran-alias'; git config core.editor 'touch /tmp/ran-editor'
git config core.hooksPath /workspace/w/.git/hooks; git config core.pager 'touch /tmp/ran-pager'; git config filter.x.clean 'touch /tmp/ran-clean'; git config filter.x.smudge 'touch /tmp/ran-smudge'; git config diff.external 'touch /tmp/ran-diff'; git config credential.helper '!touch /tmp/ran-helper'
echo '* filter=x diff=x merge=x' > .gitattributes; printf '[include]\\n\\tpath = /workspace/evil\\n' >> .git/config; printf '[submodule "s"]\\n\\tpath = s\\n\\turl = http://10.0.0.1/x\\n\\tupdate = !touch /tmp/ran-sub\\n' > .gitmodules`)
  const ran = await shell.run(
    'git add .; git commit -qm one; git checkout -qb t; git diff; git log -p; git status; git merge main; git st; git commit; git fetch',
  )
  expect(await shell.out('ls /tmp')).not.toContain('ran-')
  expect(ran.output).toContain("the alias 'st' runs a command of the shell, which is not available here")
  expect(await shell.out('git log --oneline | wc -l; git status --porcelain')).toMatch(/^\s*1\n$/)
})

test('a conversation gets its working copy with a fresh branch, or the reason why not', async () => {
  const folder = await hostRepository({ a: '1\n' })
  const store = openStore('working-copy')
  const told: string[] = []
  await store.use(async (fs) => {
    const clone = (url: string, directory: string, more = {}) =>
      cloneRepository({ fs, url, directory, remotes: REMOTES, onProgress: (line) => told.push(line), ...more })
    expect(await clone(repositoryUrl(folder), '/workspace/w')).toEqual({
      ok: true,
      branch: 'main',
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    })
    const branch = await checkoutFreshBranch({ fs, directory: '/workspace/w' })
    expect(branch).toMatch(/^bellwether-[a-z0-9]{8}$/)
    expect(text(await fs.read('/workspace/w/.git/HEAD'))).toBe(`ref: refs/heads/${branch}\n`)
    const reasons = async (url: string, more = {}) => {
      const outcome = await clone(url, '/workspace/x', more)
      return outcome.ok ? 'ok' : outcome.reason
    }
    expect(await reasons(`${hostUrl()}/git/nope.git`)).toBe('not-found')
    expect(await reasons(`${hostUrl()}/git/private/x.git`)).toBe('authentication')
    expect(await reasons('http://10.0.0.1/x')).toBe('refused')
    expect(await reasons('http://127.0.0.1:9/x')).toBe('unreachable')
    expect(await reasons(`${hostUrl()}/never`, { remotes: { ...REMOTES, limits: { headersTimeoutMs: 200 } } })).toBe(
      'unreachable',
    )
    expect(await reasons(repositoryUrl(folder), { branch: 'nope' })).toBe('not-found')
    expect(await reasons(repositoryUrl(folder), { remotes: { ...REMOTES, limits: { maxBytes: 100 } } })).toBe(
      'too-large',
    )
    expect(await reasons(repositoryUrl(folder), { remotes: { ...REMOTES, limits: { maxObjects: 2 } } })).toBe(
      'too-large',
    )
    const controller = new AbortController()
    const aborted = clone(`${hostUrl()}/never`, '/workspace/x', { signal: controller.signal })
    setTimeout(() => controller.abort(new Error('stopped')), 50)
    await expect(aborted).rejects.toThrow('stopped')
    expect(fs.list('/workspace').map(({ name }) => name)).toEqual(['w'])
  })
  expect(told.length).toBeGreaterThan(0)
})
