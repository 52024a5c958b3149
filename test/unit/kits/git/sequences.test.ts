import { expect, test } from 'vitest'
import { gitCommand } from '../../../../src/kits/git/index.ts'
import { runScript } from '../../../../src/kits/shell/index.ts'
import { decoded, LOOPBACK_REMOTES, orderGit, toBase64 } from '../../../helpers/git-host.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'

const commands = [gitCommand(LOOPBACK_REMOTES)]

function openShell() {
  const fs = new MemoryFileSystem()
  const out = async (script: string) => (await runScript({ fs, script, cwd: '/workspace', env: {}, commands })).output
  return { fs, out }
}

const SETUP = `git init -q -b main r; cd r; seq 10 > a; git add a; git commit -qm base; git checkout -qb topic
for i in 1 2 3; do echo $i > f$i; git add f$i; git commit -qm "t$i"; done
sed -i s/5/five/ a; git commit -qam t4; git checkout -q main; sed -i s/5/FIVE/ a; git commit -qam m1; git checkout -q topic`

test('the list of a rebase is edited by a command of the shell, and so are messages', async () => {
  const { out } = openShell()
  await out(SETUP)
  const subjects = 'git log --format=%s | tr "\\n" " "'
  expect(await out(`cd r; GIT_SEQUENCE_EDITOR='sed -i 2d' git rebase -q -i HEAD~4; ${subjects}`)).toBe('t4 t3 t1 base ')
  expect(
    await out(
      `cd r; GIT_SEQUENCE_EDITOR='sed -i 1s/^pick/reword/' GIT_EDITOR='sed -i s/t3/third/' git rebase -q -i HEAD~2 > /dev/null; ${subjects}`,
    ),
  ).toBe('t4 third t1 base ')
  expect(
    await out(
      `cd r; GIT_SEQUENCE_EDITOR='sed -i 2s/^pick/fixup/' git rebase -q -i HEAD~3; ${subjects}; git show --stat --format= HEAD~1 | tail -1`,
    ),
  ).toBe('t4 t1 base  2 files changed, 2 insertions(+)\n')
  expect(
    await out('cd r; GIT_SEQUENCE_EDITOR=vim git rebase -i HEAD~1; echo $?; git status -s; git rebase -i HEAD~1'),
  ).toBe(
    "error: the editor 'vim' needs a terminal, which is not available here\n1\n" +
      'error: Terminal is dumb, but EDITOR unset\nhint: set GIT_SEQUENCE_EDITOR to a command that edits the list, such as "sed -i s/pick/edit/", or to ":".\n',
  )
  expect(await out(`cd r; git rebase -q -x 'test -e f1' HEAD~1 2> /dev/null; echo $?; ${subjects}`)).toBe(
    '0\nt4 t1 base ',
  )
})

test('commits that are melted into one are counted, and the message is asked for once somebody has a say in it', async () => {
  const { out } = openShell()
  await out(
    'git init -q -b main r; cd r; for i in 1 2 3 4; do echo $i > f$i; git add f$i; git commit -qm "t$i"; done; git branch kept',
  )
  const numbered = "sed -i -n '/^# Th.*:$/s/^# //p; s/^# \\(This is a comb\\)/\\1/p'"
  const melted = (list: string) =>
    out(
      `cd r; git reset -q --hard kept; GIT_EDITOR="${numbered}" GIT_SEQUENCE_EDITOR='sed -i "${list}"' git rebase -q -i --root > /dev/null; git log --format=%B`,
    )
  expect(await melted('2s/^pick/squash/; 3s/^pick/fixup/; 4s/^pick/squash/')).toBe(
    'This is a combination of 4 commits.\nThis is the 1st commit message:\nThis is the commit message #2:\n' +
      'The commit message #3 will be skipped:\nThis is the commit message #4:\n\n',
  )
  expect(await melted('2s/^pick/squash/; 3,4s/^pick/fixup/')).toBe(
    'This is a combination of 4 commits.\nThis is the 1st commit message:\nThis is the commit message #2:\n' +
      'The commit message #3 will be skipped:\nThe commit message #4 will be skipped:\n\n',
  )
  expect(await melted('2,4s/^pick/fixup/')).toBe('t1\n\n')
})

/** The whole repository as the host has it then. */
async function moved(fs: MemoryFileSystem): Promise<string> {
  const cwd = `moved-${crypto.randomUUID().slice(0, 8)}`
  const files: { path: string; base64: string }[] = []
  const collect = async (from: string, to: string): Promise<void> => {
    for (const { name, kind } of fs.list(from)) {
      if (kind === 'directory') await collect(`${from}/${name}`, `${to}/${name}`)
      else files.push({ path: `${to}/${name}`, base64: toBase64(await fs.read(`${from}/${name}`)) })
    }
  }
  await collect('/workspace/r', cwd)
  await orderGit({ cwd, files })
  return cwd
}

const ROBIN = {
  GIT_AUTHOR_NAME: 'Robin',
  GIT_AUTHOR_EMAIL: 'robin@example.com',
  GIT_COMMITTER_NAME: 'Robin',
  GIT_COMMITTER_EMAIL: 'robin@example.com',
  GIT_EDITOR: 'true',
}

test('a real git goes on with a rebase, a series of picks and a revert that stopped here', async () => {
  const cases = [
    { begin: 'git rebase main', end: ['rebase', '--continue'], log: 't4 t3 t2 t1 m1 base ' },
    {
      begin: 'git checkout -q main; git cherry-pick main..topic',
      end: ['cherry-pick', '--continue'],
      log: 't4 t3 t2 t1 m1 base ',
    },
    {
      begin: 'git checkout -q main; git cherry-pick topic topic~2',
      end: ['cherry-pick', '--continue'],
      log: 't2 t4 m1 base ',
    },
    {
      begin: 'git commit -q --allow-empty -m e; sed -i s/five/V/ a; git commit -qam v; git revert HEAD~2',
      end: ['revert', '--continue'],
      log: 'Revert "t4" v e t4 t3 t2 t1 base ',
    },
  ]
  for (const { begin, end, log } of cases) {
    const { fs, out } = openShell()
    await out(`${SETUP}; ${begin} > /dev/null 2>&1; test -n "$(git ls-files -u)" || echo no conflict`)
    const cwd = await moved(fs)
    const reports = await orderGit({
      cwd,
      files: [{ path: `${cwd}/a`, base64: toBase64('done\n') }],
      git: [['add', 'a'], end, ['status', '-s'], ['log', '--format=%s']],
      env: ROBIN,
    })
    expect({ begin, codes: reports.map(({ exitCode }) => exitCode), said: reports[1]?.stderr }).toMatchObject({
      begin,
      codes: [0, 0, 0, 0],
    })
    expect(reports.slice(2).map((report) => decoded(report).replaceAll('\n', ' '))).toEqual(['', log])
  }
}, 60_000)

test('a command of the shell searches for the commit that broke something', async () => {
  const { out } = openShell()
  await out(`git init -q -b main r; cd r
for i in 1 2 3 4 5 6 7 8; do echo $i >> a; test $i -ge 6 && touch broken; git add -A; git commit -qm c$i; done`)
  const said = await out(
    "cd r; git bisect start HEAD HEAD~7 > /dev/null; git bisect run sh -c 'test ! -e broken'; git bisect reset",
  )
  expect(said).toMatch(/^running {2}'sh' '-c' 'test '\\!' -e broken'\nBisecting: /)
  expect(said).toContain(' is the first bad commit\n')
  expect(said).toMatch(/\n {4}c6\n[\s\S]*bisect found first bad commit/)
  expect(await out('cd r; git status -sb; git bisect log')).toBe('## main\nerror: We are not bisecting.\n')
})

test('a folder is a remote by an address as well, of which a part of the history can be cloned', async () => {
  const { out } = openShell()
  await out('git init -q -b main r; cd r; for i in 1 2 3; do git commit -q --allow-empty -m c$i; done')
  expect(
    await out('git clone -q --depth 2 file:///workspace/r x; cd x; git log --format=%s; cat .git/shallow | wc -l'),
  ).toBe('c3\nc2\n1\n')
  expect(await out('cd x; git fetch -q --unshallow; git log --format=%s; ls .git/shallow 2>&1 | wc -l')).toBe(
    'c3\nc2\nc1\n1\n',
  )
  expect(
    await out('cd x; git fetch file:///workspace/nowhere 2>&1 | head -1; git clone ssh://h/x y 2>&1 | tail -1'),
  ).toBe(
    "fatal: 'file:///workspace/nowhere' does not appear to be a git repository\nfatal: ssh is not available here; use https://h/x\n",
  )
})
