// Which industry a stock belongs to. Only mainland stocks have one that a source tells.

import { parseCode } from '../market/instruments.ts'
import type { MarketData } from '../market/providers/index.ts'
import { unlessLate } from './prices.ts'

/** `none`: no source tells one of this listing. `failed`: it could not be asked for, or not in time. */
export type Sector = { kind: 'sector'; name: string } | { kind: 'none' } | { kind: 'failed' }

/** One after the other: the source lets only one request a second pass, and what it told is kept for the next time. */
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
    // Sources that carry no boards are no failure.
    const isAsked = boards.runs.some(({ errorType }) => errorType !== 'unsupported')
    if (!boards.ok) return { kind: isAsked ? 'failed' : 'none' }
    const peers = await market.peers(instrument, boards.value, { signal })
    return peers.ok ? { kind: 'sector', name: peers.value.board.name } : { kind: 'failed' }
  })
  return told ?? { kind: 'failed' }
}
