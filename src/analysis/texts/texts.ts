// The shape of the texts: every fixed text of this family, as templates with `{names}` or as functions. A further
// language is another folder beside this file.

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
  /** The language's name in prompts. */
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
  /** The position of a level relative to its basis: `near`, or a number of ATRs `below` or `above` it. */
  place: Record<'near' | 'at' | 'below' | 'above', string>
  /** A number before its unit; `{amount}`, `{unit}`. */
  amountText: string
  /** A remark after a text, including a blank before it if the language has one; `{text}`. */
  aside: string
  /** `renminbi` is CNY for a listing with another currency. */
  unit: Record<CurrencyCode | 'renminbi', string>
  phase: Record<MarketPhaseSummary['phase'], string>
  /** The present phase, when the data has another day; `{phase}`. */
  phaseNow: string
  /** The phase from the request; `{phase}`. */
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
  /** `{model}`: replaces the sentence that there was no model. */
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

/** Why nothing should be bought although there is a technical view. */
export type StayOutReason = 'unsignalled' | 'unplanned' | 'outdated' | 'untraded'

export type AnalysisTexts = {
  /** Why a part of the score has its points; `{value}` is the figure that decided. */
  reason: Record<ReasonCode, string>
  stage: Record<StageKey, string>
  failure: Record<'no_data' | 'deadline' | 'cancelled', string>
  /** The name of a stage in error texts. */
  stageName: Record<RunStage, string>
  summaryClosed: string
  summaryLive: string
  /** When neither may be mentioned. */
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
  /** By the type of the decision. */
  noPosition: Record<Exclude<DecisionType, 'hold'>, string>
  stayOut: Record<StayOutReason, string>
  hasPosition: Record<DecisionType, string>
  /** The same when no level could be derived; a hold only because of too few bars. */
  noPositionBare: Record<DecisionType, string>
  hasPositionBare: Record<DecisionType, string>
  /** For a hold with a technical view and without a stop. */
  keepUnstopped: string
  size: Record<Exclude<DecisionType, 'buy'>, string>
  /** The size from the plan. */
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
  /** Results by their period; `{figures}` are the known ones. */
  results: Record<FinancialReport['period'], string>
  resultFigure: Record<'revenue' | 'profit' | 'cashFlow' | 'margin' | 'roe' | 'roeTrailing' | 'onYear', string>
  valuation: Record<'pe' | 'pb' | 'size' | 'on', string>
  dividends: Record<'paid' | 'yield' | 'none' | 'mixed', string>
  company: Record<'flow' | 'chips' | 'boards' | 'ranked' | 'absent' | 'notAsked', string>
  part: Record<'results' | 'flow' | 'boards' | 'rankings' | 'chips', string>
  partState: Record<Exclude<PartState, 'ok'>, string>
  news: Record<'found' | 'pooled' | 'undated' | 'social' | 'quoted', string>
  /** A cached answer with its age. */
  kept: string
  age: Record<'seconds' | 'minutes' | 'hours' | 'days', string>
  modelFailed: string
  modelFault: Record<NarratorFault, string>
  modelDiffers: string
  /** The author of the text in the box, and a disclaimer. */
  modelBox: string
  modelCounts: string
  modelMark: Record<'doubtful' | 'undecidable', string>
  unknownSkills: string
  /** `{date}`, `{days}`: results that newer ones should have replaced by now. */
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
  /** The position of the last close among those of the chart. */
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

/** The queue's texts about a task besides the stages of its run. */
export type TaskTexts = {
  /** A run was lost and the task is run again. */
  again: (label: string, attempt: number) => string
  failed: (label: string) => string
  accepted: (code: string) => string
  /** How the input was interpreted. */
  reading: (typed: string, name: string, code: string) => string
  duplicate: (code: string) => string
  batch: (accepted: number, duplicates: number) => string
  /** A key that was used for another request; and one whose request is still running. */
  keyReused: string
  stillRunning: (code: string) => string
  lost: (attempts: number) => string
  timedOut: (stage: string, seconds: number) => string
  /** A stage made no progress for this long. */
  stageTimedOut: (stage: string, seconds: number) => string
  cancelRequested: (label: string) => string
  cancelled: (label: string) => string
  /** The report is complete and waits for the database. */
  waitsForStorage: (label: string) => string
  reviewAccepted: string
  reviewDuplicate: string
  /** The name of the last stage. */
  saving: string
  notSaved: string
  connected: string
}

/** The checks of the figures and their findings. */
export type ConsistencyTexts = {
  check: Record<ConsistencyCheck, string>
  /** What was found; `{date}`, `{expected}`, `{found}`, `{count}`, `{ratio}`, `{change}`. */
  detail: Record<DetailCode, string>
  /** Replaces the date of a finding about the quote. */
  unknownDate: string
  /** `{checks}` are names with their figures. */
  failed: string
  failedVolume: string
  /** For prices that are shown alone. */
  failedPrices: string
  warned: string
  /** Next to a figure; `{checks}` are names. */
  mark: string
  /** Next to a figure that cannot be verified; `{checks}` are names. */
  unchecked: string
  noScore: string
  noAdvice: string
  withheldSentence: string
  quality: string
  notPossible: string
  /** `{source}` provided the prices. */
  adjustment: Record<AdjustmentKind, string>
  /** The text before the adjustment. */
  basis: string
  adjustedYear: Record<'year_low' | 'year_high', string>
  adjustedRange: string
  adjustedRangeText: string
  nearAdjustedHigh: string
  nearAdjustedLow: string
}

// The shape of the texts about the past results of the method; `texts.ts` has the other texts.

export type EvidenceTexts = {
  /** For advice that no replayed day could have. */
  notReplayed: string
  /** If the cases are samples. `{market}`. */
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

// The shape of the texts about horizons, plans and a listing's performance; `texts.ts` has the other texts.

export type HorizonKey = 'short' | 'medium' | 'long' | 'weekly' | 'monthly'

export type OutlookTexts = {
  heading: { horizons: string; plan: string; returns: string; risk: string; turnover: string }
  horizon: Record<HorizonKey, string>
  direction: Record<Direction, string>
  /** `{trend}`: a state of the short averages, which is not the overall trend. */
  ofShort: string
  /** How long a verdict of the short averages is valid. */
  holds: string
  /** `{entry}`, `{ratio}`, `{reward}`, `{risk}`, `{cost}`, `{most}`. */
  plan: string
  /** `{budget}`, `{size}`. */
  size: string
  /** `{least}`. */
  noPlan: string
  noPlanOfSale: string
  noPlanOfOld: string
  /** For a suspended share, or one whose price does not move. */
  noPlanUntraded: string
  /** Between parts, and between a name and its value. */
  join: string
  colon: string
}
