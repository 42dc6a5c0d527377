import { useEffect } from 'preact/hooks'
import { clocks } from './api.ts'
import { createState, useShared } from './state.ts'

const tickMs = 5_000
const tick = createState(Date.now())
let users = 0
let timer: ReturnType<typeof setInterval> | undefined

/** The browser's time, updated every few seconds. */
export const useNow = (): number => {
  useEffect(() => {
    users += 1
    timer ??= setInterval(() => tick.set(Date.now()), tickMs)
    return () => {
      users -= 1
      if (users > 0) return
      clearInterval(timer)
      timer = undefined
    }
  }, [])
  return useShared(tick)
}

/** The marketplace's time for a seller, which decides whether its orders are late; without a seller the daemon's time. In milliseconds. */
export const useMarketplaceNow = (sellerId?: string): number => {
  const now = useNow()
  const { aheadMs, ofSellers } = useShared(clocks)
  return now + (sellerId === undefined ? aheadMs : (ofSellers.get(sellerId) ?? aheadMs))
}
