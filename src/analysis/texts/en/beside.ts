import type { BesideTexts } from '../beside.ts'

export const beside: BesideTexts = {
  label: {
    comparison: "Against the market's index",
    liquidity: 'Liquidity',
    dates: 'Results and ex-dividend dates',
    peers: "Peers' multiples",
  },
  comparison: {
    told: 'against {index} up to {date}: {beta}; relative strength over 20 / 60 / 250 sessions {strength}',
    beta: 'beta {beta} ({count} daily returns, R² {fit})',
    noBeta: 'no beta of fewer than 60 daily returns',
    ofIndex: ' (bars of the index {mark})',
    is_index: 'an index is not compared with one',
    sample: 'sample prices are not compared with an index of the market: no beta, no relative strength',
    withheld: 'the prices failed a consistency check: no beta, no relative strength',
    not_fetched: 'no bars of {index} came: no beta, no relative strength',
    failed_check: 'the bars of {index} failed a consistency check: no beta, no relative strength',
    too_few: 'too few sessions in common with {index}: no beta, no relative strength',
  },
  liquidity: {
    told: 'selling {position} takes {time} at no more than {share} % of the average turnover of 20 sessions ({most} a session)',
    sessions: '{count} sessions',
    lessThanOne: 'less than one session',
    is_index: 'an index cannot be sold',
    withheld: 'the volumes failed a consistency check: how long a sale takes is not known',
    too_few: 'fewer than 20 whole sessions: how long a sale takes is not known',
    no_volume: 'the source tells no volumes: how long a sale takes is not known',
    other_money:
      'no position is stated in this money; at {share} % of the average turnover of 20 sessions {most} a session',
  },
  dates: {
    resultsFor: 'newest results up to {date}',
    resultsTold: 'newest results up to {date}, told on {told}',
    noResults: 'no results are known',
    noNextResults: 'no source tells when the next are due',
    lastExDividend: 'last ex-dividend day {date}',
    nextExDividend: 'next ex-dividend day {date}',
    noNextExDividend: 'no next ex-dividend day has been told',
    sample: 'sample prices are not mixed with facts of the real company, so no dates were asked for',
    notCompany: 'funds and indices have no results, and no source tells their ex-dividend days',
  },
  peers: {
    told: 'beside the {count} largest other companies of the board {board}: median price to earnings (of the year so far) {pe}, own {ownPe}; median price to book {pb}, own {ownPb}; with a loss, and so without price to earnings: {losses}',
    no_data: "no data on peers' multiples",
    not_supported: "no source tells peers' multiples in this market",
    failed: "peers' multiples could not be fetched",
    too_few: 'fewer than 5 peers with multiples: no median',
    sample: 'sample prices are not mixed with facts of the real company, so no peers were asked for',
    notCompany: 'funds and indices have no peers with multiples',
  },
  noLiveRatio:
    'no volume ratio while the session runs: daily bars do not tell what had been traded by this time of the days before',
  join: '; ',
}
