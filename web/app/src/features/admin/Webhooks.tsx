import type { IncomingWebhook, OutgoingWebhook } from '@majlis/client'
import { useMajlis, useSpaces, useStore } from '@majlis/client/react'
import { useState, type FormEvent, type ReactNode } from 'react'

import { msg, t } from '../../language/words.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmButton } from '../../ui/ConfirmButton.tsx'
import { dot } from '../../ui/format.ts'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { brief, fullTime } from '../../ui/time.ts'
import { toast } from '../../ui/toast.tsx'
import { useQuery } from '../../ui/useQuery.ts'
import { CopyBox } from './CopyBox.tsx'

type Events = Parameters<ReturnType<typeof useStore>['client']['outgoingWebhooks']['create']>[0]['events']
const EVENTS: Record<string, Events> = { [msg('All events')]: ['*'], [msg('Messages')]: ['space.message'], [msg('Ends of runs')]: ['run.completed', 'run.failed', 'run.canceled'], [msg('Members')]: ['space.member.joined', 'space.member.left'] }
const REASONS = { failing: msg('Deliveries failed for a day.'), gone: msg('The receiver no longer exists (410).'), creator_left: msg('The person who added it can no longer read the events.') }
const DELIVERY = { pending: msg('pending'), delivered: msg('delivered'), failed: msg('failed') } as const
const SCHEMES = { secret: msg('A secret in the request'), github: 'GitHub', stripe: 'Stripe', standard: 'Standard Webhooks', none: msg('No check (anyone with the address)') } as const

/** Addresses that other programs post to, and addresses that events are posted to. */
export function Webhooks() {
  const { client } = useStore()
  const { data, problem, reload } = useQuery('webhooks', async () => {
    const [incoming, outgoing] = await Promise.all([client.incomingWebhooks.list(), client.outgoingWebhooks.list()])
    return { incoming, outgoing }
  })
  const remove = (work: Promise<void>) => void work.then(reload, (error: Error) => toast(error.message))
  if (!data) return <QueryStatus problem={problem} />
  return (
    <div className="space-y-10">
      <Section title={t('Incoming webhooks')} about={t('Other programs post to these addresses. What they send becomes a message or an event for an agent.')} empty={data.incoming.length === 0}>
        {data.incoming.map((hook) => <Incoming key={hook.id} hook={hook} onDelete={() => remove(client.incomingWebhooks.delete(hook.id))} />)}
      </Section>
      <NewIncoming onMade={reload} />
      <Section title={t('Outgoing webhooks')} about={t('Events are signed and posted to these addresses. Failed deliveries are retried for a day.')} empty={data.outgoing.length === 0}>
        {data.outgoing.map((hook) => <Outgoing key={hook.id} hook={hook} onDelete={() => remove(client.outgoingWebhooks.delete(hook.id))} />)}
      </Section>
      <NewOutgoing onMade={reload} />
    </div>
  )
}

function Section({ title, about, empty, children }: { title: string; about: string; empty: boolean; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h3 className="text-large">{title}</h3>
      <p className="mb-2 text-small text-ink-soft">{about}</p>
      {empty ? <p className="text-small text-ink-soft">{t('None yet')}</p> : <ul className="divide-y divide-line">{children}</ul>}
    </section>
  )
}

const useSpaceName = (id: string | null): string => useMajlis((state) => (id === null ? t('All spaces') : (state.spaces[id]?.facts.name ?? t('A space'))))

function Incoming({ hook, onDelete }: { hook: IncomingWebhook; onDelete: () => void }) {
  const space = useSpaceName(hook.spaceId)
  return (
    <li className="space-y-1.5 py-3 text-small">
      <p className="flex items-baseline gap-3">
        <b className="min-w-0 flex-1 truncate font-semibold">{hook.name}</b>
        <ConfirmButton label={t('Delete')} confirm={t('Yes, delete {name}', { name: hook.name })} onConfirm={onDelete} />
      </p>
      <p className="text-ink-soft">{hook.spaceId ? t('Posts in {space}', { space }) : t('Triggers an agent')}{dot()}{t(SCHEMES[hook.verify.scheme])}{dot()}{t('Created {time}', { time: brief(hook.createdAt) })}</p>
      <code className="block overflow-x-auto rounded-md bg-paper-low px-2 py-1 font-mono text-tiny">{hook.url}</code>
    </li>
  )
}

function Outgoing({ hook, onDelete }: { hook: OutgoingWebhook; onDelete: () => void }) {
  const { client } = useStore()
  const space = useSpaceName(hook.spaceId)
  const [open, setOpen] = useState(false)
  return (
    <li className="space-y-1.5 py-3 text-small">
      <p className="flex items-baseline gap-3">
        <b className="min-w-0 flex-1 truncate font-semibold">{hook.url}</b>
        <Button look="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? t('Hide deliveries') : t('Deliveries')}</Button>
        <ConfirmButton label={t('Delete')} confirm={t('Yes, delete webhook')} onConfirm={onDelete} />
      </p>
      <p className="text-ink-soft">{hook.agentId ? t('Triggers an agent') : <>{space}{dot()}{hook.events.includes('*') ? t('all events') : hook.events.join(', ')}</>}{dot()}{t('Created {time}', { time: brief(hook.createdAt) })}</p>
      {hook.disabledAt && <p className="text-bad">{t('Disabled since {time}.', { time: fullTime(hook.disabledAt) })} {hook.reason ? t(REASONS[hook.reason]) : ''}</p>}
      {!hook.disabledAt && hook.failingSince && <p className="text-decide">{t('Failing since {time}', { time: fullTime(hook.failingSince) })}</p>}
      {open && <Deliveries list={() => client.outgoingWebhooks.deliveries(hook.id, { limit: 20 })} id={hook.id} />}
    </li>
  )
}

function Deliveries({ id, list }: { id: string; list: () => ReturnType<ReturnType<typeof useStore>['client']['outgoingWebhooks']['deliveries']> }) {
  const { client } = useStore()
  const { data, problem, reload } = useQuery(`deliveries ${id}`, list)
  if (!data) return <QueryStatus problem={problem} />
  if (data.length === 0) return <p className="text-ink-soft">{t('No deliveries yet')}</p>
  return (
    <ul aria-label={t('Deliveries')} className="space-y-1 border-s border-line ps-3">
      {data.map((each) => (
        <li key={each.id} className="flex items-baseline gap-3">
          <span className="font-mono text-tiny">{each.type}</span>
          <span className={each.state === 'failed' ? 'text-bad' : 'text-ink-soft'}>{t(DELIVERY[each.state])}</span>
          <time className="ms-auto text-tiny text-ink-soft" dateTime={each.createdAt}>{brief(each.createdAt)}</time>
          {each.state === 'failed' && <Button look="quiet" onClick={() => void client.outgoingWebhooks.retry(id, each.id).then(reload, (error: Error) => toast(error.message))}>{t('Retry')}</Button>}
        </li>
      ))}
    </ul>
  )
}

function NewIncoming({ onMade }: { onMade: () => void }) {
  const { client } = useStore()
  const spaces = useSpaces()
  const [scheme, setScheme] = useState<keyof typeof SCHEMES>('secret')
  const [made, setMade] = useState<string | null>(null)
  const [problem, setProblem] = useState('')
  const create = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    try {
      const secret = String(form.get('secret') ?? '').trim()
      const hook = await client.incomingWebhooks.create({ name: String(form.get('name')).trim(), spaceId: String(form.get('space')), verify: { scheme, secret: secret ? (secret.startsWith('secret:') ? secret : `secret:${secret}`) : null } })
      setMade(hook.url)
      setProblem('')
      onMade()
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  return (
    <form className="space-y-2 text-small" aria-label={t('New incoming webhook')} onSubmit={(event) => void create(event)}>
      <div className="flex flex-wrap gap-2">
        <input name="name" required maxLength={200} autoComplete="off" aria-label={t('Name')} placeholder={t('Name, for example GitHub')} className="field w-52 py-1.5" />
        <select name="space" required aria-label={t('Space')} className="field w-auto max-w-44 py-1.5">{spaces.filter((space) => !space.facts.direct).map(({ facts }) => <option key={facts.id} value={facts.id}>{facts.name}</option>)}</select>
        <select aria-label={t('Check')} value={scheme} className="field w-auto py-1.5" onChange={(event) => setScheme(event.target.value as keyof typeof SCHEMES)}>{Object.entries(SCHEMES).map(([value, name]) => <option key={value} value={value}>{t(name)}</option>)}</select>
        {scheme !== 'none' && <input name="secret" required autoComplete="off" aria-label={t('Secret')} placeholder={t('Name of a stored secret')} className="field w-52 py-1.5" />}
        <Button type="submit">{t('Add incoming webhook')}</Button>
      </div>
      {made && <CopyBox title={t('The other program posts to this address')} text={new URL(made, location.origin).href} />}
      <p role="alert" className="text-bad empty:hidden">{problem}</p>
    </form>
  )
}

function NewOutgoing({ onMade }: { onMade: () => void }) {
  const { client } = useStore()
  const spaces = useSpaces()
  const [secret, setSecret] = useState<string | null>(null)
  const [problem, setProblem] = useState('')
  const create = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    try {
      const made = await client.outgoingWebhooks.create({ url: String(form.get('url')).trim(), events: EVENTS[String(form.get('events'))]!, ...(form.get('space') ? { spaceId: String(form.get('space')) } : {}) })
      setSecret(made.secret)
      setProblem('')
      onMade()
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  return (
    <form className="space-y-2 text-small" aria-label={t('New outgoing webhook')} onSubmit={(event) => void create(event)}>
      <div className="flex flex-wrap gap-2">
        <input name="url" type="url" required autoComplete="off" aria-label={t('Address')} placeholder="https://…" className="field w-64 py-1.5" />
        <select name="space" aria-label={t('Space')} className="field w-auto max-w-44 py-1.5"><option value="">{t('All your spaces')}</option>{spaces.map(({ facts }) => <option key={facts.id} value={facts.id}>{facts.name}</option>)}</select>
        <select name="events" aria-label={t('Events')} className="field w-auto py-1.5">{Object.keys(EVENTS).map((name) => <option key={name} value={name}>{t(name)}</option>)}</select>
        <Button type="submit">{t('Add outgoing webhook')}</Button>
      </div>
      {secret && <CopyBox title={t('Copy the signing secret now. It won’t be shown again.')} text={secret} />}
      <p role="alert" className="text-bad empty:hidden">{problem}</p>
    </form>
  )
}
