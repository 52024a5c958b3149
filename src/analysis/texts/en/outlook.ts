import type { OutlookTexts } from '../outlook.ts'

export const outlook: OutlookTexts = {
  heading: {
    horizons: 'Trend by horizon',
    plan: 'Reward/risk',
    returns: 'Return of 5 / 20 / 60 / 250 sessions (%)',
    risk: 'Volatility of 60 sessions a year / maximum drawdown of 250 (%)',
    turnover: 'Average turnover of 20 sessions',
  },
  horizon: {
    short: 'short (days to weeks)',
    medium: 'medium (weeks to months)',
    long: 'long (months to years)',
    weekly: 'weekly bars',
    monthly: 'monthly bars',
  },
  direction: { up: 'up', down: 'down', sideways: 'sideways', unknown: 'too few bars' },
  holds: 'score and advice are for the short horizon (5 to 20 sessions)',
  plan: 'bought at {entry}, {ratio} after costs ({cost} % for both sides): {reward} % to win, {risk} % to lose; not bought above {most}',
  size: 'to lose at most {budget} % of the capital, no more than {size} % of it',
  noPlan: 'no price to buy at wins {least} times what it risks after costs: there is no plan to buy',
  noPlanOfSale: 'an advice to sell has no prices to buy at',
  join: '; ',
  colon: ': ',
}
