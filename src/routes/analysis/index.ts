import { OpenAPIHono } from '@hono/zod-openapi'
import type { AppEnv } from '../../http/app-env.ts'
import { analyze } from './analyze.ts'
import { calendar } from './calendar.ts'
import { channels } from './channels.ts'
import { chat } from './chat.ts'
import { deliveries } from './deliveries.ts'
import { evidence, evidenceLedger } from './evidence.ts'
import { extractImage } from './extract-image.ts'
import { history } from './history.ts'
import { marketReview } from './market-review.ts'
import { alertRules } from './page/alert-rules.ts'
import { alerts } from './page/alerts.ts'
import { backtest } from './page/backtest.ts'
import { channelTrial } from './page/channel-trial.ts'
import { configuration } from './page/configuration.ts'
import { generationBackends } from './page/generation-backends.ts'
import { marketStatus } from './page/market-status.ts'
import { modelTrials } from './page/model-trials.ts'
import { scheduler } from './page/scheduler.ts'
import { pageScreening } from './page/screening.ts'
import { screeningTopics } from './page/screening-topics.ts'
import { setupStatus } from './page/setup-status.ts'
import { pageSignIn } from './page/sign-in.ts'
import { signalEntry } from './page/signal-entry.ts'
import { signalOutcomes } from './page/signal-outcomes.ts'
import { signals } from './page/signals.ts'
import { parseImport } from './parse-import.ts'
import { portfolioAccounts } from './portfolio/accounts.ts'
import { portfolioEvents } from './portfolio/events.ts'
import { portfolioImport } from './portfolio/import.ts'
import { positionAnalysis } from './portfolio/position-analysis.ts'
import { portfolioRates } from './portfolio/rates.ts'
import { portfolioRisk } from './portfolio/risk.ts'
import { portfolioSnapshot } from './portfolio/snapshot.ts'
import { queue, stream } from './queue.ts'
import { readings } from './readings.ts'
import { savedScreens } from './saved-screens.ts'
import { schedules } from './schedules.ts'
import { screening } from './screening.ts'
import { stocks } from './stocks.ts'
import { tasks } from './tasks.ts'
import { usageDashboard } from './usage-dashboard.ts'
import { watchlistGroups } from './watchlist-groups.ts'
import { watchlists } from './watchlists.ts'
import { watchlistsDefault } from './watchlists-default.ts'

/** The analysis family. */
export const analysisRoutes = new OpenAPIHono<AppEnv>()

for (const part of [
  analyze,
  marketReview,
  stream,
  tasks,
  queue,
  schedules,
  // Registered before the paths with any id.
  watchlistGroups,
  watchlists,
  watchlistsDefault,
  channels,
  chat,
  deliveries,
  evidence,
  evidenceLedger,
  history,
  readings,
  parseImport,
  extractImage,
  stocks,
  configuration,
  marketStatus,
  calendar,
  modelTrials,
  generationBackends,
  channelTrial,
  pageSignIn,
  setupStatus,
  scheduler,
  pageScreening,
  screeningTopics,
  screening,
  savedScreens,
  usageDashboard,
  portfolioAccounts,
  portfolioEvents,
  portfolioImport,
  positionAnalysis,
  portfolioRates,
  portfolioRisk,
  portfolioSnapshot,
  // Registered before the paths with a number in the same position.
  signalOutcomes,
  signalEntry,
  signals,
  alertRules,
  alerts,
  backtest,
])
  analysisRoutes.route('/', part)
