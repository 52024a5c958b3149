// The shape of the book of texts: every fixed text of this family, in templates with `{names}` or functions. A further language
// is one more folder beside this file.

import type { FinancialReport } from '../../market/company.ts'
import type { AdjustmentKind, CheckKey as ConsistencyCheck, DetailCode } from '../../market/consistency/types.ts'
import type { ChipHealth } from '../../market/indicators/chips.ts'
import type { Market } from '../../market/instruments.ts'
import type { Dimension } from '../../news/article.ts'
import type {
  Advice,
  CheckKey,
  Confidence,
  CurrencyCode,
  DecisionType,
  Direction,
  FlowWord,
  GapKind,
  GuardCode,
  Heading,
  Indicator,
  LevelBasis,
  LightState,
  NarratorFault,
  PartState,
  ReasonCode,
  ReviewPart,
  ReviewTone,
  RunStage,
  ScorePartKey,
  SentimentLevel,
  SkillId,
  SkillVerdict,
  StageKey,
  Temperature,
  TrendPrediction,
  TrendState,
} from '../codes.ts'
import type { Action, ContextBlock, DiagnosticComponent, DiagnosticSummary, MarketPhaseSummary } from '../schemas.ts'
import type { BesideTexts } from './beside.ts'

export type Texts = {
  /** What prompts call the language. */
  inEnglish: string
  report: ReportTexts
  analysis: AnalysisTexts
  consistency: ConsistencyTexts
  evidence: EvidenceTexts
  outlook: OutlookTexts
  beside: BesideTexts
  skills: SkillTexts
  review: ReviewTexts
  task: TaskTexts
  /** The parts of a run's flow. */
  flow: Record<FlowWord, string>
}

export type ReportTexts = {
  sentiment: Record<SentimentLevel, string>
  action: Record<Action, string>
  advice: Record<Advice, string>
  trendPrediction: Record<TrendPrediction, string>
  confidence: Record<Confidence, string>
  trendState: Record<TrendState, string>
  scorePart: Record<ScorePartKey, string>
  guard: Record<GuardCode, string>
  level: Record<'ideal_buy' | 'secondary_buy' | 'stop_loss' | 'take_profit', string>
  basis: Record<LevelBasis, string>
  /** How a level stands to its basis: `near`, or so many ATR `below` or `above` it. */
  place: Record<'near' | 'at' | 'below' | 'above', string>
  /** A number before its unit; `{amount}`, `{unit}`. */
  amountText: string
  /** What is said beside a text, with the blank before it where the language has one; `{text}`. */
  aside: string
  /** `renminbi` is CNY beside a listing in other money. */
  unit: Record<CurrencyCode | 'renminbi', string>
  phase: Record<MarketPhaseSummary['phase'], string>
  /** The phase of a day that is not the data's; `{phase}`. */
  phaseNow: string
  /** The phase that the request asked for; `{phase}`. */
  phaseAsked: string
  block: Record<ContextBlock['key'], string>
  blockStatus: Record<ContextBlock['status'], string>
  diagnosticStatus: Record<DiagnosticSummary['status'], string>
  component: Record<keyof DiagnosticSummary['components'], string>
  componentStatus: Record<DiagnosticComponent['status'], string>
  diagnostic: Record<'answered' | 'before' | 'all_failed' | 'not_asked' | 'sample' | 'not_saved' | 'saved', string>
  overall: Record<'normal' | 'unknown' | 'affected', string>
  disclosure: Record<'not_configured' | 'no_hits', string>
  sample: Record<'historical' | 'synthetic', string>
  /** The same in a word or two. */
  sampleLabel: Record<'historical' | 'synthetic', string>
  heading: Record<Heading, string>
  indicator: Record<Indicator, string>
  /** Large numbers: divisor and suffix, largest first. */
  magnitudes: readonly (readonly [number, string])[]
  chipHealth: Record<ChipHealth, string>
  newsDimension: Record<Dimension, string>
  unnamed: string
  codeMade: string
  /** `{model}`: in place of the sentence that there was none. */
  modelBeside: string
  modelMade: string
  disclaimer: string
  /** Between the parts of a clause. */
  comma: string
  /** Between clauses that have commas of their own. */
  clauseJoin: string
  listComma: string
  colon: string
}

/** Why nothing is bought although there is a technical view. */
export type StayOutReason = 'unsignalled' | 'unplanned' | 'outdated' | 'untraded'

export type AnalysisTexts = {
  /** Why a part of the score has its points; `{value}` is the figure that decided. */
  reason: Record<ReasonCode, string>
  stage: Record<StageKey, string>
  failure: Record<'no_data' | 'deadline' | 'cancelled', string>
  /** What a failure calls the stage it happened in. */
  stageName: Record<RunStage, string>
  summaryClosed: string
  summaryLive: string
  /** Where neither may be said. */
  summaryAt: string
  summaryNoPrice: string
  view: string
  good: string
  bad: string
  noTechnical: string
  oneSentence: string
  averages: string
  momentum: string
  range: string
  /** By what the decision comes to. */
  noPosition: Record<Exclude<DecisionType, 'hold'>, string>
  stayOut: Record<StayOutReason, string>
  hasPosition: Record<DecisionType, string>
  /** The same where no level could be derived; a hold is one for want of bars. */
  noPositionBare: Record<DecisionType, string>
  hasPositionBare: Record<DecisionType, string>
  /** Of a hold that has a technical view and no stop. */
  keepUnstopped: string
  size: Record<Exclude<DecisionType, 'buy'>, string>
  /** The plan's own size. */
  buySize: string
  timing: Record<DecisionType, string>
  entryPlan: string
  riskControl: string
  /** Stop and target as changes of the price. */
  riskReward: string
  immediate: Record<DecisionType, string>
  notNow: string
  window: Record<'open' | 'next', string>
  watchBelow: string
  watchAbove: string
  nextCheck: Record<'open' | 'next', string>
  confidence: string
  limitation: string
  staleBars: string
  staleQuote: string
  partialBar: string
  phaseAgainstCalendar: string
  nameMismatch: string
  otherCurrency: string
  mixedSources: string
  nearYearHigh: string
  nearYearLow: string
  unknown: string
  changes: Record<'price' | 'samePrice' | 'score' | 'sameScore' | 'parts' | 'trend' | 'advice' | 'crossed', string>
  /** Results by the period they are of; `{figures}` are those that are known. */
  results: Record<FinancialReport['period'], string>
  resultFigure: Record<'revenue' | 'profit' | 'cashFlow' | 'margin' | 'roe' | 'roeTrailing' | 'onYear', string>
  valuation: Record<'pe' | 'pb' | 'size' | 'on', string>
  dividends: Record<'paid' | 'yield' | 'none' | 'mixed', string>
  company: Record<'flow' | 'chips' | 'boards' | 'ranked' | 'absent' | 'notAsked', string>
  part: Record<'results' | 'flow' | 'boards' | 'rankings' | 'chips', string>
  partState: Record<Exclude<PartState, 'ok'>, string>
  news: Record<'found' | 'pooled' | 'undated' | 'social' | 'quoted', string>
  /** A kept answer with its age. */
  kept: string
  age: Record<'seconds' | 'minutes' | 'hours' | 'days', string>
  modelFailed: string
  modelFault: Record<NarratorFault, string>
  modelDiffers: string
  /** Whose words stand in the box, and what they are not. */
  modelBox: string
  modelCounts: string
  modelMark: Record<'doubtful' | 'undecidable', string>
  unknownSkills: string
  /** `{date}`, `{days}`: results that newer ones should have followed by now. */
  oldResults: string
  skillFinding: string
  skillsAgainst: string
}

export type SkillTexts = {
  skill: Record<SkillId, { name: string; description: string }>
  check: Record<CheckKey, string>
  verdict: Record<SkillVerdict, string>
}

type IndexColumn = 'name' | 'current' | 'change' | 'high' | 'low' | 'amplitude' | 'amount' | 'date'

export type ReviewTexts = {
  /** The name of a review in lists. */
  title: string
  /** A review's heading, with its date. */
  dated: (date: string) => string
  regionReview: (scope: string) => string
  part: Record<ReviewPart, string>
  column: Record<IndexColumn, string>
  breadthTable: Record<'up' | 'down' | 'flat' | 'limitUp' | 'limitDown' | 'turnover', string>
  board: Record<'industry' | 'concept' | 'top' | 'bottom' | 'change' | 'leader' | 'netInflow', string>
  overnightTitle: string
  chartTitle: string
  light: Record<LightState, string>
  lightLine: (light: { label: string; temperature: string; score: number }) => string
  temperature: Record<Temperature, string>
  guidance: Record<LightState, string>
  reason: {
    main: (name: string, change: string) => string
    average: (change: string) => string
    breadth: (up: number, down: number) => string
    limits: (up: number, down: number) => string
    leader: (name: string, change: string) => string
  }
  tone: Record<ReviewTone, string>
  indexSpread: (best: string, worst: string) => string
  /** Of the last close among those of the chart. */
  place: (index: string, percent: number, sessions: number) => string
  fundsLine: (names: string) => string
  noFunds: string
  noSectors: string
  noNews: string
  plan: Record<LightState, string>
  risk: Record<LightState, string>
  volatile: (name: string, amplitude: string) => string
  partial: string
  missing: string
  gap: Record<GapKind, string>
  regionFailed: (scope: string, reason: string) => string
  failedTitle: string
  noIndex: string
  timedOut: (seconds: number) => string
  codeMade: string
  modelMade: (model: string) => string
  modelBox: (model: string) => string
  modelDiffers: (state: string) => string
  disclaimer: string
  colon: string
  comma: string
  stage: Record<'preparing' | 'narrating' | 'saving', string>
  stageRegion: (scope: string) => string
  noReport: (reasons: string) => string
}

/** What the queue says about a task beyond the stages of its run. */
export type TaskTexts = {
  /** A run was lost and the task goes out again. */
  again: (label: string, attempt: number) => string
  failed: (label: string) => string
  accepted: (code: string) => string
  /** How what was typed was read. */
  reading: (typed: string, name: string, code: string) => string
  duplicate: (code: string) => string
  batch: (accepted: number, duplicates: number) => string
  /** A key that names one request came with another; and one whose request still runs. */
  keyReused: string
  stillRunning: (code: string) => string
  lost: (attempts: number) => string
  timedOut: (stage: string, seconds: number) => string
  /** A stage got no further for so long. */
  stageTimedOut: (stage: string, seconds: number) => string
  cancelRequested: (label: string) => string
  cancelled: (label: string) => string
  /** The report is made and waits for the database. */
  waitsForStorage: (label: string) => string
  reviewAccepted: string
  reviewDuplicate: string
  /** The name of the last stage. */
  saving: string
  notSaved: string
  connected: string
}

/** The checks of the figures and what they found. */
export type ConsistencyTexts = {
  check: Record<ConsistencyCheck, string>
  /** What was found; `{date}`, `{expected}`, `{found}`, `{count}`, `{ratio}`, `{change}`. */
  detail: Record<DetailCode, string>
  /** Stands for the date of a finding about the quote. */
  unknownDate: string
  /** `{checks}` are names with their figures. */
  failed: string
  failedVolume: string
  /** Of prices that stand alone. */
  failedPrices: string
  warned: string
  /** Beside a figure; `{checks}` are names. */
  mark: string
  /** Beside a figure that nothing at hand can check; `{checks}` are names. */
  unchecked: string
  noScore: string
  noAdvice: string
  withheldSentence: string
  quality: string
  notPossible: string
  /** `{source}` made the prices. */
  adjustment: Record<AdjustmentKind, string>
  /** What stands before the adjustment. */
  basis: string
  adjustedYear: Record<'year_low' | 'year_high', string>
  adjustedRange: string
  adjustedRangeText: string
  nearAdjustedHigh: string
  nearAdjustedLow: string
}

// The shape of the texts about what the method was worth in the past; `texts.ts` has the rest of the book's.

export type EvidenceTexts = {
  /** Of advice that no replayed day could give. */
  notReplayed: string
  /** Where the cases are of samples. `{market}`. */
  samplesOf: string
  heading: string
  /** Nothing was computed for this market. */
  none: string
  group: Record<DecisionType, string>
  market: Record<Market | 'all', string>
  regime: Record<'all' | 'bull' | 'bear' | 'sideways' | 'unknown', string>
  /** `{group}`, `{market}`, `{regime}`, `{count}`, `{effective}`, `{sessions}`, `{mean}`, `{random}`. */
  cases: string
  /** `{excess}`, `{low}`, `{high}`. */
  edge: string
  noEdge: string
  /** `{least}`. */
  tooFew: string
  noClaim: string
  /** `{probability}`, `{base}`, `{skill}`. */
  probability: string
  /** Between sentences. */
  join: string
}

// The shape of the texts about horizons, plans and what a listing did; `texts.ts` has the rest of the book's.

export type HorizonKey = 'short' | 'medium' | 'long' | 'weekly' | 'monthly'

export type OutlookTexts = {
  heading: { horizons: string; plan: string; returns: string; risk: string; turnover: string }
  horizon: Record<HorizonKey, string>
  direction: Record<Direction, string>
  /** `{trend}`: a state of the short averages, which is none of the overall trend. */
  ofShort: string
  /** A verdict of the short averages: for how long it holds. */
  holds: string
  /** `{entry}`, `{ratio}`, `{reward}`, `{risk}`, `{cost}`, `{most}`. */
  plan: string
  /** `{budget}`, `{size}`. */
  size: string
  /** `{least}`. */
  noPlan: string
  noPlanOfSale: string
  noPlanOfOld: string
  /** Of a share that is suspended, or whose price stands still. */
  noPlanUntraded: string
  /** Between parts, and between a name and what it is. */
  join: string
  colon: string
}
