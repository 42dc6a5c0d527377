import { readChoice, useAddress } from '../lib/router.ts'
import { ChoiceFilter, Filters, SellerFilter } from '../parts/filters.tsx'
import { Trends } from '../parts/trends.tsx'

/** Figures of the last days as charts. */
export const TrendsView = () => {
  const at = useAddress()
  const days = readChoice(at, 'days', ['7', '90']) ?? '30'
  const sellerId = at.parameters.get('sellerId')
  return (
    <>
      <h1 tabIndex={-1}>Trends</h1>
      <p class="faint">
        The solid line is this period, the dashed one the period before. They are computed within minutes, or within an hour where
        there are many orders.
      </p>
      <Filters at={at}>
        <ChoiceFilter
          at={at}
          name="days"
          label="Period"
          options={[
            ['', '30 days'],
            ['7', '7 days'],
            ['90', '90 days'],
          ]}
        />
        <SellerFilter at={at} />
      </Filters>
      <Trends days={Number(days)} sellerId={sellerId === null || sellerId === '' ? undefined : sellerId} />
    </>
  )
}
