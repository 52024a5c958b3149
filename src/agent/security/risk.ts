export const RISK = { unknown: -1, low: 0, medium: 1, high: 2 } as const

/** Actions below this level need no confirmation, unless the owner chose another level. */
export const DEFAULT_RISK_SEVERITY = RISK.medium
