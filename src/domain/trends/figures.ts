/** How a figure of several sellers, or of several days, is made of its parts. */
type Combination = 'sum' | 'mean'

/** The figures of trends: their units, how sellers are combined, and whether a day without an entry is a day with none; `calls`: if it has calls. */
export const trendFigures = {
  orders: { unit: 'count', combined: 'sum', isZeroWithout: true },
  'on-time': { unit: 'share', combined: 'mean', isZeroWithout: false },
  'hours-to-ship': { unit: 'hours', combined: 'mean', isZeroWithout: false },
  refunds: { unit: 'count', combined: 'sum', isZeroWithout: true },
  'seconds-to-confirm': { unit: 'seconds', combined: 'mean', isZeroWithout: false },
  lag: { unit: 'seconds', combined: 'sum', isZeroWithout: false },
  calls: { unit: 'count', combined: 'sum', isZeroWithout: false },
  'calls-refused': { unit: 'count', combined: 'sum', isZeroWithout: 'calls' },
  'money-at-stake': { unit: 'money', combined: 'sum', isZeroWithout: false },
} as const satisfies Readonly<
  Record<string, { readonly unit: string; readonly combined: Combination; readonly isZeroWithout: boolean | 'calls' }>
>

/** One of {@link trendFigures}. */
export type TrendFigure = keyof typeof trendFigures

/** The names of {@link trendFigures}. */
export const trendFigureNames = Object.keys(trendFigures).filter((name): name is TrendFigure => Object.hasOwn(trendFigures, name))

/** Units of the values of a trend. */
export const trendUnits = ['count', 'share', 'hours', 'seconds', 'money'] as const
