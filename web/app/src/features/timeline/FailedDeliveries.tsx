import { inspect } from '../../router.ts'
import { useDeliveries } from '../inspector/Deliveries.tsx'
import { useMayWrite } from '../spaces/useMayWrite.ts'

const LINK = 'rounded-sm underline underline-offset-4 hover:text-ink'

/** The agents that failed to respond to a message, with their runs and a way to retry. */
export default function FailedDeliveries({ spaceId, messageId }: { spaceId: string; messageId: string }) {
  const { list, problem, retry } = useDeliveries(messageId)
  const mayWrite = useMayWrite(spaceId)
  const failed = list?.filter((each) => each.state === 'failed') ?? []
  const label = (text: string, agentName: string) => (failed.length > 1 ? `${text} (${agentName})` : text)
  return (
    <div className="flex flex-wrap gap-x-4 self-start">
      {failed.map((each) => (
        <span key={each.agentId} className="flex gap-3">
          {each.runId && <button type="button" className={LINK} onClick={() => inspect({ kind: 'run', id: each.runId! })}>{label('View run', each.agentName)}</button>}
          {mayWrite && <button type="button" className={`${LINK} text-warm`} onClick={() => retry(each.agentId)}>{label('Retry', each.agentName)}</button>}
        </span>
      ))}
      {problem && <span role="alert" className="text-bad">{problem}</span>}
    </div>
  )
}
