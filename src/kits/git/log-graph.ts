// A log with the graph next to it.

import { Graph } from './graph.ts'
import type { Visited } from './history.ts'
import type { SearchResult } from './log-search.ts'

export interface Texts {
  /** Of a commit, with a line end only if the format has one. */
  message: (visited: Visited) => Promise<string>
  /** Its changes, each line with its line end; `''` if they are not shown. */
  changes: (visited: Visited) => Promise<string>
  /** Lines are between commits instead of a line end after each. */
  isSeparated: boolean
}

export async function graphedLog({ commits, parentsOf }: SearchResult, texts: Texts): Promise<string> {
  const graph = new Graph()
  let text = ''
  let isEnded = true
  for (const [i, visited] of commits.entries()) {
    graph.update({ oid: visited.oid, parents: parentsOf(visited.oid) })
    if (i > 0 && texts.isSeparated) text += isEnded ? `${graph.padding()}\n` : '\n'
    const message = await texts.message(visited)
    isEnded = message.endsWith('\n')
    text += besideMessage(graph, message)
    if (!texts.isSeparated) text += isEnded ? `${graph.padding()}\n` : '\n'
    const changes = await texts.changes(visited)
    if (changes !== '') text += graph.padding() + changes.replace(/\n(?!$)/g, () => `\n${graph.padding()}`)
  }
  return text
}

function besideMessage(graph: Graph, message: string): string {
  let text = ''
  for (let line = graph.line(); ; line = graph.line()) {
    text += line.text
    if (line.isCommit) break
    text += '\n'
  }
  text += message.replace(/\n(?!$)/g, () => `\n${graph.line().text}`)
  if (graph.isFinished) return text
  const isEnded = message.endsWith('\n')
  if (!isEnded) text += '\n'
  const rest: string[] = []
  while (!graph.isFinished) rest.push(graph.line().text)
  return `${text}${rest.join('\n')}${isEnded ? '\n' : ''}`
}
