// Checks at the end that all acknowledged data exists.

import { audit, type Books, noBooks } from '../faults/agent-books.ts'
import type { Run } from './work.ts'

const AT_ONCE = 10

/** Missing or wrong data, by kind; empty if all is correct. */
export async function findings({ people, done }: Run): Promise<Record<string, string[]>> {
  const books: Books = noBooks()
  await inTurns([...people.members, ...done.forks], ({ conversation }) => audit(conversation, books))
  const uploads = await inTurns(done.uploads, async ({ member: { owner, conversation }, name, text }) => {
    const path = `${conversation.path}/select-file?file=${name}`
    const { body } = await owner.client.ask<{ code?: string }>(path, { expect: [200, 404, 500] })
    return body.code === text ? [] : [`${conversation.id}: ${name}`]
  })
  const rules = await inTurns(done.rules, async ({ owner, id }) => {
    const { status } = await owner.client.ask(`/api/v1/alerts/rules/${id}`, { expect: [200, 404] })
    return status === 200 ? [] : [`${owner.name}: rule ${id}`]
  })
  const tasks = await inTurns(people.owners, async ({ name, tasks: ofOwner }) => {
    const { lost, twice, gaps, repeats } = ofOwner.audit()
    const { missing, doubled } = await ofOwner.auditReports()
    const wrong = { lost, twice, gaps, repeats, missing, doubled }
    return Object.entries(wrong).flatMap(([what, count]) => (count === 0 ? [] : [`${name}: tasks ${what} ${count}`]))
  })
  const { lostEvents, doubled, stuck, missing, differing } = books
  return {
    'events lost': lostEvents,
    'calls run twice': doubled,
    'turns stuck': stuck,
    'calls without effect': missing,
    'forks that differ': differing,
    'uploads that differ': uploads.flat(),
    'rules missing': rules.flat(),
    'tasks and reports': tasks.flat(),
  }
}

async function inTurns<T, R>(items: readonly T[], look: (item: T) => Promise<R>): Promise<R[]> {
  const found: R[] = []
  for (let at = 0; at < items.length; at += AT_ONCE) {
    found.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(look))))
  }
  return found
}
