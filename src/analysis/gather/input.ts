// What an analysis is about, and what it depends on.

import type { Bar, Fetched, Quote } from '../../market/bars.ts'
import type { VolumePart } from '../../market/day-volumes.ts'
import type { Instrument } from '../../market/instruments.ts'
import type { NewsResult } from '../../news/search.ts'
import type { Mood } from '../codes.ts'
import type { EvidenceRow } from '../evidence/vocabulary.ts'
import type { Narrator } from '../narrator.ts'
import type { RunJob } from '../task.ts'
import type { CompanyQuestions } from './company.ts'
import type { PreviousReport } from './previous.ts'
import type { Names } from './stock-name.ts'

/** What is to be analysed, for whom, under which id. */
export type AnalysisInput = RunJob & {
  instrument: Instrument
  /** What the stock index calls the listing. Sources never rename it. */
  names: Names
}

/** All that an analysis needs of the world. */
export type Deps = {
  dailyBars(signal: AbortSignal): Promise<Fetched<Bar[]>>
  quote(signal: AbortSignal): Promise<Fetched<Quote>>
  /** A quote of a source other than these, for prices that are in doubt. Null: there is none to ask. */
  otherQuote: ((known: readonly string[], signal: AbortSignal) => Promise<Fetched<Quote>>) | null
  /** Volumes within the day of a session that runs. Null: nobody is asked. */
  dayVolumes: ((signal: AbortSignal) => Promise<Fetched<VolumePart[]>>) | null
  /** Daily bars of the index of the listing's market. Null: nobody is asked. */
  indexBars: ((index: Instrument, signal: AbortSignal) => Promise<Fetched<Bar[]>>) | null
  /** Null: nobody is asked about companies. */
  company: CompanyQuestions | null
  /** Null: nobody searches. */
  news: { isConfigured: boolean; search(signal: AbortSignal): Promise<NewsResult> } | null
  /** The report before this one. */
  previous(): Promise<PreviousReport | null>
  mood(): Promise<Mood | null>
  /** What the method was worth over bars of this market, or over the samples; null while nobody computed it. */
  evidenceRows(isSample: boolean): Promise<EvidenceRow[] | null>
  /** Null: the words are code's. */
  narrator: Narrator | null
  deadlines: { dailyBarsMs: number; quoteMs: number; companyMs: number; newsMs: number; modelMs: number }
}
