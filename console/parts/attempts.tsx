import type { Schemas } from '../lib/api.ts'
import { Empty } from './states.tsx'
import { Raw, Time } from './text.tsx'

/** The attempts of a command, with requests and answers. */
export const Attempts = ({ command }: { readonly command: Pick<Schemas['Command'], 'attempts'> }) =>
  command.attempts.length === 0 ? (
    <Empty>Nothing has been sent yet.</Empty>
  ) : (
    <ol class="attempts">
      {command.attempts.map((attempt) => (
        <li key={attempt.attempt}>
          <p>
            <Time at={attempt.startedAt} />: {attempt.outcome ?? 'in progress'}
            {attempt.httpStatus === null ? '' : `, HTTP ${attempt.httpStatus}`}{' '}
            <span class="faint whole">{attempt.correlationId}</span>
          </p>
          <Raw summary="Request" value={attempt.request} />
          {attempt.failure !== null && <Raw summary="Answer" value={attempt.failure} />}
          {attempt.readBacks !== null && <Raw summary="Read-back" value={attempt.readBacks} />}
        </li>
      ))}
    </ol>
  )
