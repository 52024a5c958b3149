// The turns of a talk, a row each. A row begins with the event of a message and is closed once, by the event that ends the turn.

import { createHash } from 'node:crypto'
import { firstRow, rows } from '../../sql.ts'
import { TALK_TABLES } from '../schema.ts'

/** `first`: the first event of the turn: the question, or the note before it. */
export type Turn = {
  question: number
  first: number
  digest: string
  deadline: number
  ended: number | null
  answer: number | null
  failure: string | null
}

const MAX_CODES = 20

export class TalkTurns {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(TALK_TABLES)
  }

  /** The one that has not ended; null when none runs. */
  get running(): Turn | null {
    return firstRow<Turn>(this.#sql, 'SELECT * FROM talk_turns WHERE ended IS NULL ORDER BY question LIMIT 1')
  }

  /** Every stock that was mentioned, the newest first. */
  get codes(): string[] {
    const all = rows<{ codes: string }>(this.#sql, 'SELECT codes FROM talk_turns ORDER BY question DESC')
    // Stored by this class.
    return [...new Set(all.flatMap(({ codes }) => JSON.parse(codes) as string[]))].slice(0, MAX_CODES)
  }

  /** One message for each question, and one for each end. */
  get messageCount(): number {
    return firstRow<{ n: number }>(this.#sql, 'SELECT COUNT(*) + COUNT(ended) AS n FROM talk_turns')?.n ?? 0
  }

  of(question: number): Turn | null {
    return firstRow<Turn>(this.#sql, 'SELECT * FROM talk_turns WHERE question = ?', question)
  }

  /** The newest, oldest first. */
  newest(count: number): Turn[] {
    return rows<Turn>(this.#sql, 'SELECT * FROM talk_turns ORDER BY question DESC LIMIT ?', count).reverse()
  }

  begin(turn: { question: number; first: number; deadline: number; message: string; codes: readonly string[] }): void {
    const { question, first, deadline, message, codes } = turn
    this.#sql.exec(
      'INSERT INTO talk_turns (question, first, digest, codes, deadline) VALUES (?, ?, ?, ?, ?)',
      question,
      first,
      digestOf(message),
      JSON.stringify(codes.slice(0, MAX_CODES)),
      deadline,
    )
  }

  /** Stores the reason why the turn will end without an answer, unless one comes before its end. */
  fail(question: number, failure: string): void {
    this.#sql.exec('UPDATE talk_turns SET failure = ? WHERE question = ?', failure, question)
  }

  end(question: number, { ended, answer, failure }: Pick<Turn, 'ended' | 'answer' | 'failure'>): void {
    this.#sql.exec(
      'UPDATE talk_turns SET ended = ?, answer = ?, failure = ? WHERE question = ?',
      ended,
      answer,
      failure,
      question,
    )
  }
}

export const digestOf = (message: string): string => createHash('sha256').update(message).digest('hex')
