// Writes docs/metrics.md from the declarations of the metrics.
import { writeFileSync } from 'node:fs'
import { metricsPage } from '../src/observability/metrics-page.ts'

writeFileSync(new URL('../docs/metrics.md', import.meta.url), await metricsPage())
