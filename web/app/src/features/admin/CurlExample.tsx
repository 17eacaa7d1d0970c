import { useStore } from '@majlis/client/react'
import { useState } from 'react'

import { t } from '../../language/words.ts'
import { allPages } from '../../ui/allPages.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { CopyBox } from './CopyBox.tsx'

/** A shell command by which a service sends an event to an agent. */
export function CurlExample({ token, name }: { token: string | null; name: string }) {
  const { client } = useStore()
  const { data: agents } = useQuery('agents', () => allPages((page) => client.agents.list(page)))
  const [chosen, setChosen] = useState('')
  const agentId = chosen || agents?.[0]?.id || 'AGENT_ID'
  // Escape single quotes for the shell.
  const body = JSON.stringify({ serviceName: name, payload: { hello: 'world' } }).replaceAll("'", String.raw`'\''`)
  const line = `curl -X POST ${location.origin}/api/agents/${agentId}/trigger -H "Authorization: Bearer ${token ?? '$TOKEN'}" -H 'Content-Type: application/json' -d '${body}'`
  return (
    <section className="space-y-3">
      <h4 className="font-serif text-large font-semibold">{t('Send an event to an agent')}</h4>
      <label className="flex items-center gap-3 text-small">
        <span className="text-ink-soft">{t('Agent')}</span>
        <select value={agentId} className="field w-auto" onChange={(event) => setChosen(event.target.value)}>{agents?.map((agent) => <option key={agent.id} value={agent.id}>{agent.name}</option>)}</select>
      </label>
      <CopyBox title={token ? t('Uses the token above') : t('Replace $TOKEN with a token of this service')} text={line} />
    </section>
  )
}
