import { expect, test } from 'vitest'
import { hostRepository, orderGit, realGit, repositoryUrl, toBase64 } from '../../../helpers/git-host.ts'
import { commitElsewhere, openShell, REMOTES } from './remote-shell.ts'

test('a clone has the whole history, or as much of it as is asked for', async () => {
  const folder = await hostRepository({ a: '1\n' })
  for (const name of ['b', 'c', 'd']) await commitElsewhere(folder, name, `${name}\n`)
  await realGit(folder, 'branch', 'other', 'main~1')
  await realGit(folder, 'tag', '-a', 'v1', '-m', 'one', 'main~2')
  const url = repositoryUrl(folder)
  const shell = openShell('shallow')
  expect(
    await shell.out(
      `git clone -q ${url} w; cd w; git rev-list --count HEAD; git rev-parse --is-shallow-repository; git branch -r; git tag`,
    ),
  ).toBe('4\nfalse\n  origin/HEAD -> origin/main\n  origin/main\n  origin/other\nv1\n')
  expect((await shell.run('git fetch --unshallow')).output).toBe(
    'fatal: --unshallow on a complete repository does not make sense\n',
  )
  expect(
    await shell.out(
      `cd ..; git clone -q -b main --depth 1 ${url} one; cd one; git rev-list --count HEAD; git branch -r; git tag`,
    ),
  ).toBe('1\n  origin/HEAD -> origin/main\n  origin/main\n')
  expect(await shell.out('git fetch -q --depth=2; git rev-list --count HEAD')).toBe('2\n')
  expect(
    await shell.out(
      'git fetch -q --unshallow; git rev-list --count HEAD; git rev-parse --is-shallow-repository; git tag',
    ),
  ).toBe('4\nfalse\nv1\n')
  expect(
    await shell.out(`cd ..; git clone -q --single-branch -b other ${url} o; cd o; git branch -r; git log --format=%s`),
  ).toBe('  origin/other\nc from elsewhere\nb from elsewhere\nfirst\n')
  await shell.run('cd ..')
  expect((await shell.run(`git clone -q -b nope ${url} x`)).output).toBe(
    'fatal: Remote branch nope not found in upstream origin\n',
  )
  expect((await shell.run(`git clone ${url} one`)).output).toContain('already exists and is not an empty directory')
  expect((await shell.run(`mkdir e; git clone -q ${url} e; ls e`)).output).toBe('a\nb\nc\nd\n')
  await orderGit({ cwd: 'empty.git', git: [['init', '-q', '--bare', '.']] })
  expect(await shell.out(`git clone ${repositoryUrl('empty.git')}; git -C empty status`)).toMatch(
    /appear to have cloned an empty[\s\S]*No commits yet/,
  )
})

test('a history that is too large is cut off, which is said; what is asked for beyond the limit is refused', async () => {
  const folder = await hostRepository({ a: '1\n' })
  const noise = toBase64(crypto.getRandomValues(new Uint8Array(60_000)))
  for (const name of ['b', 'c', 'd']) await commitElsewhere(folder, 'noise', `${name}${noise}`.slice(0, 60_000))
  await commitElsewhere(folder, 'noise', 'less\n')
  const shell = openShell('bounded', { ...REMOTES, limits: { maxBytes: 40_000 } })
  const cloned = await shell.run(
    `git clone ${repositoryUrl(folder)} w; cd w; git status --short; git rev-list --count HEAD`,
  )
  expect(cloned.exitCode).toBe(0)
  expect(cloned.output).toMatch(
    /^Cloning into 'w'\.\.\.\nwarning: the whole history .*larger than 40000 bytes.*\nwarning: cloned only the last commit .*git fetch --depth=<n>.*\n1\n$/,
  )
  const refused = await shell.run('git fetch --unshallow')
  expect(refused.exitCode).toBe(128)
  expect(refused.output).toMatch(
    /larger than 40000 bytes\nThis is more than can be fetched at once here; with --depth=<n> less comes\.\n$/,
  )
  expect(await shell.out('git rev-list --count HEAD; git status --short')).toBe('1\n')
  const edited = await shell.run('echo mine > mine; git add mine; git commit -qm mine; git push')
  expect([edited.exitCode, await realGit(folder, 'log', '-2', '--format=%s', 'main')]).toEqual([
    0,
    'mine\nnoise from elsewhere\n',
  ])
})

test('a ref of the remote is deleted without being known here, and one that is not there cannot be', async () => {
  const folder = await hostRepository({ a: '1\n' })
  const shell = openShell('delete')
  await shell.run(`git clone -q ${repositoryUrl(folder)} w; cd w`)
  for (const name of ['one', 'two']) await realGit(folder, 'branch', name, 'main')
  await realGit(folder, 'tag', 'v1', 'main')
  const url = repositoryUrl(folder)
  expect(await shell.run('git push origin --delete one')).toEqual({
    exitCode: 0,
    output: `To ${url}\n - [deleted]         one\n`,
  })
  expect((await shell.run('git push origin :two :v1')).output).toBe(
    `To ${url}\n - [deleted]         two\n - [deleted]         v1\n`,
  )
  expect(await realGit(folder, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main\n')
  expect(await shell.run('git push origin --delete one')).toEqual({
    exitCode: 1,
    output: `error: unable to delete 'one': remote ref does not exist\nerror: failed to push some refs to '${url}'\n`,
  })
})

test('what a push says when the remote has moved on is what git says', async () => {
  const folder = await hostRepository({ a: '1\n' })
  const shell = openShell('rejected')
  const url = repositoryUrl(folder)
  await shell.run(
    `git clone -q ${url} w; cd w; git checkout -qb side; git push -q -u origin side; git checkout -q main`,
  )
  const real = `rejected-${crypto.randomUUID()}`
  await orderGit({ cwd: '.', git: [['clone', '-q', folder, real]] })
  await commitElsewhere(folder, 'b', '2\n')
  await commitElsewhere(folder, 'c', '2\n', 'side')
  const both = async (...args: string[]) => {
    const [report] = await orderGit({ cwd: real, git: [args] })
    const ours = await shell.run(`git ${args.map((arg) => `'${arg}'`).join(' ')}`)
    const path = /refs to '(.*)'$/m.exec(report?.stderr ?? '')?.[1] ?? url
    expect(ours).toEqual({ exitCode: report?.exitCode, output: (report?.stderr ?? '').replaceAll(path, url) })
    return ours
  }
  await both('commit', '-q', '--allow-empty', '-m', 'mine')
  expect((await both('push', 'origin', 'main')).output).toContain('fetch first')
  await both('fetch', '-q')
  expect((await both('push', 'origin', 'main')).output).toContain('non-fast-forward')
  expect((await both('push', 'origin', 'main~1:side')).output).toContain('pushed branch tip is behind')
  expect((await both('push', '--force-with-lease=side:main', 'origin', 'main~1:side')).output).toContain('stale info')
  await both('tag', 'v1')
  await realGit(folder, 'tag', 'v1', 'side')
  expect((await both('push', 'origin', 'v1')).output).toContain('already exists')
  expect((await both('push', 'origin', 'nope')).output).toContain('does not match any')
})

test('a merge is pulled without fetching what is here, and new tags come along', async () => {
  const folder = await hostRepository({ a: '1\n' })
  let receivedBytes = 0
  const counting: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    const bytes = await response.arrayBuffer()
    if (init?.method === 'POST') receivedBytes += bytes.byteLength
    return new Response(bytes, response)
  }
  const shell = openShell('pull', { ...REMOTES, fetch: counting })
  const noise = toBase64(crypto.getRandomValues(new Uint8Array(60_000)))
  await commitElsewhere(folder, 'noise', noise)
  await shell.run(`git clone -q ${repositoryUrl(folder)} w; cd w; echo mine > mine; git add .; git commit -qm mine`)
  expect(receivedBytes).toBeGreaterThan(40_000)
  receivedBytes = 0
  await commitElsewhere(folder, 'b', '2\n')
  await realGit(folder, 'tag', '-a', 'v1', '-m', 'one', 'main')
  await realGit(folder, 'tag', 'light', 'main~1')
  expect((await shell.run('git pull -q --no-rebase')).exitCode).toBe(0)
  expect(await shell.out('git tag; git log --format=%s --first-parent; git push -q; git status -sb')).toMatch(
    /^light\nv1\nMerge branch 'main' of .*\nmine\nnoise from elsewhere\nfirst\n## main\.\.\.origin\/main\n$/,
  )
  expect(receivedBytes).toBeLessThan(5_000)
  expect(await realGit(folder, 'log', '--format=%s', '--first-parent', '-1', 'main')).toContain('Merge branch')
  expect(await realGit(folder, 'fsck', '--strict', '--no-progress')).toBe('')
})
