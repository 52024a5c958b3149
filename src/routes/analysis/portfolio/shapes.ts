// What the endpoints of a portfolio have in common.

import { z } from '@hono/zod-openapi'

export const BASE = '/api/v1/portfolio'
const common = { scope: 'analysis', bodyLimit: 'standard', tag: 'Portfolio' } as const
export const reads = { ...common, limit: 'reads', method: 'get' } as const
export const writes = { ...common, limit: 'writes' } as const

export const missing = { 404: { description: 'No such account, or no such entry of yours' } }
export const refused = { 400: { description: '`validation_error`: what cannot be, and why' } }
export const clash = {
  409: {
    description: '`portfolio_oversell`: more would be sold than is held; `conflict`: the trade is booked already',
  },
}
export const gone = { 200: { description: 'It is gone', schema: z.object({ deleted: z.literal(1) }) } }
