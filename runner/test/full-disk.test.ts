// A disk that is full, or whose files are gone, ends no runner and tears no file: what cannot be written is said, and goes on when
// there is room again.

import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Guard } from '../src/session/guard.ts'
import { type Lent, startRunner, temporaryFolder } from './support/runner-process.ts'
import { sandboxed } from './support/sandboxed.ts'
import type { Session } from './support/stand-in-session.ts'

const DISK_BYTES = 12 * 1024 * 1024

/** A runner whose folder is a disk of its own. */
const onSmallDisk = (): Promise<Lent> =>
  startRunner(['--isolation', 'none'], (folder) => [
    ...['bwrap', '--die-with-parent', '--dev-bind', '/', '/'],
    ...['--size', String(DISK_BYTES), '--tmpfs', folder, '--'],
  ])

/** The lines of the journal, as commands without a sandbox see it. */
const linesOf = async (session: Session): Promise<unknown[]> => {
  const { output } = await session.run('cat ../journal/calls.jsonl')
  const lines = output.split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line))
}

sandboxed(
  'a disk that commands filled ends nothing: small changes go up, large ones are named, and a command makes room',
  async () => {
    const { service, runner } = await onSmallDisk()
    const session = await service.open('c1')
    await session.push()
    const filled = await session.run(
      'echo kept > kept; head -c 6000000 /dev/zero > large; cat /dev/zero > fill; echo full',
    )
    expect(filled.output).toContain('No space left')
    expect(filled.outcome).toMatchObject({ state: 'ended', exitCode: 0 })
    expect(filled.outcome.remarks.join()).toContain('large stays on the runner for now')
    expect(filled.tree.has('kept')).toBe(true)
    // The journal is whole whatever the disk took of a line.
    for (let times = 0; times < 20; times++) expect((await session.run('echo on')).output).toBe('on\n')
    expect((await linesOf(session)).length).toBeGreaterThan(10)

    expect((await session.run('rm fill; echo room > news')).outcome).toMatchObject({ state: 'ended', exitCode: 0 })
    const after = await session.run('echo more >> news')
    expect([session.tree.text('news'), after.tree.has('large')]).toEqual(['room\nmore\n', true])
    expect((await linesOf(session)).length).toBeGreaterThan(40)

    const marks = temporaryFolder()
    const later = `while [ ! -e ${marks}/room ]; do sleep 0.02; done; rm fill; touch ${marks}/made`
    await session.run(`((${later}) &); cat /dev/zero > fill`)
    const { revision } = session.tree
    session.tree.write('sent', Buffer.alloc(2_000_000))
    await expect(session.push(revision)).rejects.toThrow(/takes nothing more.*nothing of this was run/)
    // What it has is a part of it, so only the whole tree will do, once there is room.
    await expect(session.push(revision)).rejects.toMatchObject({ code: -32004 })
    writeFileSync(join(marks, 'room'), '')
    await expect.poll(() => existsSync(join(marks, 'made')), { timeout: 60_000, interval: 20 }).toBe(true)
    session.tree.nodes.delete('large')
    await session.push()
    expect((await session.run('ls | cat; cat news')).output).toBe('kept\nnews\nsent\nroom\nmore\n')
    expect([runner.log.includes('runner.failed'), runner.child.exitCode]).toEqual([false, null])
  },
)

sandboxed(
  'output for which a full disk has no room stands still while nobody listens, and all of it comes',
  async () => {
    const { service, runner } = await onSmallDisk()
    const session = await service.open('c1')
    await session.push()
    const marks = temporaryFolder()
    const spilled = `while ! ls ../journal | grep -q spill; do sleep 0.02; done; touch ${marks}/spilled`
    const cut = `while [ ! -e ${marks}/cut ]; do sleep 0.02; done`
    const filled = `cat /dev/zero > fill; ((${spilled}) &); touch ${marks}/begun`
    const { key } = await session.start(`${filled}; ${cut}; seq 1 3000000`)
    await expect.poll(() => existsSync(join(marks, 'begun')), { timeout: 60_000, interval: 20 }).toBe(true)
    service.refuse(true)
    session.cut()
    await session.until(() => session.rpc === null)
    writeFileSync(join(marks, 'cut'), '')
    await expect.poll(() => existsSync(join(marks, 'spilled')), { timeout: 60_000, interval: 20 }).toBe(true)
    service.refuse(false)
    const { output, outcome } = await session.ended(key)
    expect([output.endsWith('2999999\n3000000\n'), outcome.outputBytes]).toEqual([true, output.length])
    expect(output.length).toBeGreaterThanOrEqual(22_888_896)
    expect(runner.child.exitCode).toBe(null)
  },
)

sandboxed(
  'a copy that somebody deleted ends its conversation there and not the runner, and is made again',
  async () => {
    const { service, runner, folder } = await startRunner(['--isolation', 'bwrap', '--network', 'none'])
    const session = await service.open('c1')
    session.tree.write('file', 'kept')
    await session.push()
    const { key } = await session.start('echo begun; sleep 1000')
    await session.until(() => session.outputOf(key).includes('begun'))
    rmSync(join(folder, 'c1'), { recursive: true })
    await runner.logged(/conversation\.closed .*its folder was deleted/)
    await session.until(() => session.rpc === null)
    await service.open('c1')
    expect(session.lastHello).toMatchObject({ tree: null, calls: [] })
    await session.push()
    expect((await session.run('cat file')).output).toBe('kept')
  },
)

test.skipIf(process.platform !== 'linux')(
  'who has some room left on the disk is told that the machine needs more',
  () => {
    const told: string[] = []
    const guard = new Guard({
      // A file system without any room.
      folder: '/proc',
      memoryBytes: Number.POSITIVE_INFINITY,
      diskBytes: Number.POSITIVE_INFINITY,
      kills: () => 0,
      pids: () => [process.pid],
      onOver: (text) => void told.push(text),
      onFolderGone: () => void told.push('gone'),
    })
    guard.look()
    expect(told).toContain(
      "The command was killed: the runner's disk has less than 256 MiB left, which its machine needs.",
    )
  },
)
