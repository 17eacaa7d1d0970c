import type { AuditEntry } from '@majlis/client'
import { useMe, useStore } from '@majlis/client/react'
import { useState } from 'react'

import { t } from '../../language/words.ts'
import { allPages } from '../../ui/allPages.ts'
import { Button } from '../../ui/Button.tsx'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { fullTime } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'

const PAGE = 50

/** The audit log, newest first. For owners. */
export function Audit() {
  const { client } = useStore()
  const [action, setAction] = useState('')
  const [actorId, setActorId] = useState('')
  const [more, setMore] = useState<{ entries: readonly AuditEntry[]; hasMore: boolean } | null>(null)
  const owner = useMe()?.role === 'owner'
  const query = { limit: PAGE, ...(action ? { action } : {}), ...(actorId ? { actorId } : {}) }
  const { data, problem } = useQuery(`audit ${action} ${actorId}`, async () => (owner ? client.audit(query) : { entries: [], hasMore: false }))
  const { data: people } = useQuery('audit actors', async () => (owner ? allPages((page) => client.entities.list(page)) : []))
  if (!owner) return <p className="text-ink-soft">{t('Only owners can read the audit log.')}</p>
  if (!data && !problem) return <QueryStatus problem="" />
  const entries = [...(data?.entries ?? []), ...(more?.entries ?? [])]
  const load = async () => {
    const page = await client.audit({ ...query, before: entries.at(-1)!.id })
    setMore({ entries: [...(more?.entries ?? []), ...page.entries], hasMore: page.hasMore })
  }
  return (
    <div className="space-y-4">
      <form
        className="flex flex-wrap gap-2"
        onSubmit={(event) => {
          event.preventDefault()
          setMore(null)
          setAction(String(new FormData(event.currentTarget).get('action')).trim())
        }}
      >
        <input name="action" type="search" aria-label={t('Action')} placeholder={t('Action, for example token.created')} className="field max-w-xs text-small" />
        <select
          aria-label={t('By')}
          value={actorId}
          className="field w-auto max-w-52 text-small"
          onChange={(event) => {
            setMore(null)
            setActorId(event.target.value)
          }}
        >
          <option value="">{t('Anyone')}</option>
          {people?.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
        </select>
        <Button type="submit">{t('Filter')}</Button>
      </form>
      {problem && <p role="alert" className="text-small text-bad">{problem}</p>}
      <ol aria-label={t('Audit log')} className="divide-y divide-line text-small">{entries.map((entry) => <Entry key={entry.id} entry={entry} />)}</ol>
      {entries.length === 0 && !problem && <p className="text-ink-soft">{t('No entries')}</p>}
      {(more ?? data)?.hasMore && <Button onClick={() => void load().catch(() => {})}>{t('Load earlier entries')}</Button>}
    </div>
  )
}

function Entry({ entry }: { entry: AuditEntry }) {
  const details = Object.keys(entry.details).length > 0 ? JSON.stringify(entry.details) : ''
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 py-1.5">
      <time dateTime={entry.at} className="w-44 shrink-0 text-ink-soft tabular-nums">{fullTime(entry.at)}</time>
      <bdi className="font-medium">{entry.actor.name}</bdi>
      <span className="font-mono text-tiny">{entry.action}</span>
      {entry.target && <span className="font-mono text-tiny text-ink-soft">{entry.target}</span>}
      {details && <span className="w-full truncate font-mono text-tiny text-ink-soft" title={details}>{details}</span>}
    </li>
  )
}
