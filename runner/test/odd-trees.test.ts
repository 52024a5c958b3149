// Trees that a program makes to confuse the sync: folders that change under it, odd names, odd sizes, very many files.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startRunner, temporaryFolder } from './support/runner-process.ts'
import type { Session } from './support/stand-in-session.ts'

/** Exchanges a folder and a link to a place outside as fast as the kernel does, until it is told to stop. */
const SWAPS = `import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
count = 0
while not os.path.lexists('stop'):
    if libc.renameat2(-100, b'd', -100, b'l', 2) == 0: count += 1
    else:
        try: os.symlink(sys.argv[1], 'l')
        except FileExistsError: pass
print(count)
`

/** What was thought of the copy may be old, and what stands on the disk may change: as the service does, it is tried again with all of it. */
async function again<T>(session: Session, work: (base: number | null) => Promise<T>): Promise<T> {
  for (let base: number | null = session.tree.revision; ; base = null) {
    try {
      return await work(base)
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || !MAY_PASS.includes(Number(error.code))) throw error
    }
  }
}
/** Another revision; a transfer that failed. */
const MAY_PASS = [-32004, -32603]

test('a folder that a program exchanges with a link again and again leads neither side out of the tree', async () => {
  const outside = temporaryFolder()
  writeFileSync(join(outside, 'file'), 'untouched')
  const beside = temporaryFolder()
  const [program, swaps] = [join(beside, 'swaps.py'), join(beside, 'swaps')]
  writeFileSync(program, SWAPS)
  const { service } = await startRunner()
  const session = await service.open('c1')
  session.tree.write('d/file', 'inside')
  await session.push()
  await session.run(`python3 ${program} ${outside} > ${swaps} 2>&1 &`)
  for (let count = 0; count < 40; count++) {
    const { tree } = await again(session, async (base) => {
      session.tree.write('d/file', `inside ${count}`)
      session.tree.write(`d/new${count}`, 'new')
      await session.push(base)
      return session.run(`echo ${count} >> other`)
    })
    for (const node of tree.values()) if (node.kind === 'file') expect(node.bytes.toString()).not.toContain('untouched')
  }
  await again(session, () => session.run('touch stop; wait'))
  expect(Number(readFileSync(swaps, 'utf8'))).toBeGreaterThan(100)
  expect(readdirSync(outside)).toEqual(['file'])
  expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('untouched')
})

test('odd names and sizes come back as they are: twins, line ends, very long ones, a sparse file', async () => {
  const { service } = await startRunner()
  const session = await service.open('c1')
  await session.push()
  const names = [
    ...['Case', 'case', 'é', 'e\u0301', 'line\nend', 'line\rend', '-rf', ' ', '*', '\\', '"', '$(touch escaped)'],
    ...['\u202egnp.exe', '😀', '\u0001', 'ﬁ', 'x'.repeat(255), 'ä'.repeat(127)],
  ]
  const made = await session.run(
    `for n in ${names.map((name) => `'${name}'`).join(' ')}; do printf %s "$n" > "./$n"; done; truncate -s 900G sparse`,
  )
  for (const name of names) expect([name, session.tree.text(name)]).toEqual([name, name])
  expect(session.tree.text('escaped')).toBeNull()
  expect(session.tree.text('sparse')).toBeNull()
  expect(made.outcome.remarks.join()).toMatch(/sparse.*stays on the runner/)
  // And down again, to a copy that is made anew.
  await session.run('rm -rf -- * .[!.]*')
  for (const name of names) session.tree.write(name, `${name}, from above`)
  await session.push()
  const { output } = await session.run(
    'for f in *; do [ "$(cat -- "$f"; echo .)" = "$f, from above." ] || echo "$f"; done; ls | wc -l',
  )
  // One name has two lines.
  expect(output).toMatch(/^\s*19\s*$/)
})

/** As many as fit into a transfer twice over. */
const MANY = process.env.PROOF === '1' ? 100_000 : 10_000

test(`${MANY} empty files in a tree come up once`, { timeout: 600_000 }, async () => {
  const { service } = await startRunner()
  const session = await service.open('c1')
  await session.push()
  const many = await session.run(`python3 -c "import os
for i in range(${MANY}):
    if i % 1000 == 0: os.makedirs(f'many/{i // 1000}')
    open(f'many/{i // 1000}/{i}', 'w').close()"`)
  expect([...many.tree.keys()].filter((path) => path.split('/').length === 3)).toHaveLength(MANY)
  const { revision } = session.tree
  await session.run('true')
  expect(session.tree.revision).toBe(revision)
})
