// The industry of a stock. Sources only have it for mainland stocks.

import { parseCode } from '../market/instruments.ts'
import type { MarketData } from '../market/providers/index.ts'
import { unlessLate } from './prices.ts'

/** `none`: no source has one for this listing. `failed`: the request failed, or was too late. */
export type Sector = { kind: 'sector'; name: string } | { kind: 'none' } | { kind: 'failed' }

/** One after the other: the source allows one request a second, and its answers are cached. */
export async function sectorsOf(
  market: Pick<MarketData, 'boards' | 'peers'>,
  symbols: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Sector>> {
  const sectors = new Map<string, Sector>()
  for (const symbol of symbols) sectors.set(symbol, await sectorOf(market, symbol, signal))
  return sectors
}

async function sectorOf(
  market: Pick<MarketData, 'boards' | 'peers'>,
  symbol: string,
  signal: AbortSignal,
): Promise<Sector> {
  const parsed = parseCode(symbol)
  if (!parsed.ok || parsed.instrument.market !== 'cn' || parsed.instrument.kind !== 'stock') return { kind: 'none' }
  if (signal.aborted) return { kind: 'failed' }
  const { instrument } = parsed
  const told = await unlessLate(signal, async (): Promise<Sector> => {
    const boards = await market.boards(instrument, { signal })
    // Sources without boards are not a failure.
    const isAsked = boards.runs.some(({ errorType }) => errorType !== 'unsupported')
    if (!boards.ok) return { kind: isAsked ? 'failed' : 'none' }
    const peers = await market.peers(instrument, boards.value, { signal })
    return peers.ok ? { kind: 'sector', name: peers.value.board.name } : { kind: 'failed' }
  })
  return told ?? { kind: 'failed' }
}
