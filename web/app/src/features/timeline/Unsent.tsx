import { useMajlis, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { t } from '../../language/words.ts'
import { Markdown } from '../markdown/Markdown.tsx'
import { toast } from '../../ui/toast.tsx'
import { useQuery } from '../../ui/useQuery.ts'

const LINK = 'rounded-sm text-link underline underline-offset-4'

/** Below a message of the user: an agent wrote an answer to it but did not send it. */
export function Unsent({ messageId }: { messageId: string }) {
  const all = useMajlis((state) => Object.values(state.agents.unsent).filter((each) => each.messageId === messageId))
  return all.map((each) => <div key={each.runId} className="ms-12"><UnsentAnswer runId={each.runId} agentName={each.agentName} /></div>)
}

/** Read shows the text to the asker, Post sends it as the agent's message. */
export function UnsentAnswer({ runId, agentName }: { runId: string; agentName: string }) {
  const { client } = useStore()
  const [shown, setShown] = useState(false)
  const { data: run, reload } = useQuery(`unsent ${runId}`, () => client.runs.get(runId))
  if (!run?.unsent || run.unsent.messageId) return null
  const post = () => client.runs.postUnsent(runId).then(reload, (error: Error) => toast(error.message))
  return (
    <div className="mt-1 rounded-md border border-line bg-paper-low px-3 py-1.5 text-small">
      <p className="flex flex-wrap gap-x-3 text-ink-soft">
        <span className="flex-1">{t('{name} wrote an answer but did not send it. Only you can see this.', { name: agentName })}</span>
        <button type="button" aria-expanded={shown} className={LINK} onClick={() => setShown(!shown)}>{shown ? t('Hide') : t('Read')}</button>
        <button type="button" className={LINK} onClick={() => void post()}>{t('Post')}</button>
      </p>
      {shown && <div className="mt-2 border-t border-line pt-2"><Markdown text={run.unsent.text} names={[]} me="" /></div>}
    </div>
  )
}
