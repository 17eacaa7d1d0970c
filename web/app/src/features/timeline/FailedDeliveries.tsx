import type { MessageDelivery } from '@majlis/client'
import { useMe, useStore } from '@majlis/client/react'

import { t } from '../../language/words.ts'
import { inspect } from '../../router.ts'
import { Link } from '../../ui/Link.tsx'
import { useQuery } from '../../ui/useQuery.ts'
import { useDeliveries } from '../inspector/Deliveries.tsx'
import { useMayWrite } from '../spaces/useMayWrite.ts'

const LINK = 'rounded-sm underline underline-offset-4 hover:text-ink'

/** The agents that failed to respond to a message, with a way to retry. Administrators also get the reason and a link to the settings. */
export default function FailedDeliveries({ spaceId, messageId }: { spaceId: string; messageId: string }) {
  const { list, problem, retry } = useDeliveries(messageId)
  const mayWrite = useMayWrite(spaceId)
  const administers = useMe()?.role !== 'member'
  const failed = list?.filter((each) => each.state === 'failed') ?? []
  const label = (text: string, agentName: string) => (failed.length > 1 ? `${text} (${agentName})` : text)
  return (
    <>
      <div className="flex flex-wrap gap-x-4 self-start">
        {failed.map((each) => (
          <span key={each.agentId} className="flex gap-3">
            {each.runId && <button type="button" className={LINK} onClick={() => inspect({ kind: 'run', id: each.runId! })}>{label(t('View run'), each.agentName)}</button>}
            {administers && <Link href={`/admin/agents/${each.agentId}`} className={LINK}>{label(t('Open settings'), each.agentName)}</Link>}
            {mayWrite && <button type="button" className={`${LINK} text-link`} onClick={() => retry(each.agentId)}>{label(t('Retry'), each.agentName)}</button>}
          </span>
        ))}
        {problem && <span role="alert" className="text-bad">{problem}</span>}
      </div>
      {administers && failed.map((each) => <Reason key={each.agentId} delivery={each} />)}
    </>
  )
}

function Reason({ delivery: { runId } }: { delivery: MessageDelivery }) {
  const { client } = useStore()
  const { data: run } = useQuery(`reason ${runId}`, async () => (runId ? client.runs.get(runId) : null))
  return run?.error ? <p dir="auto" className="w-full break-words text-ink">{run.error.message}</p> : null
}
