import type { Invite, NewInvite, SpaceRole } from '@majlis/client'
import { useMe, useSpaces, useStore } from '@majlis/client/react'
import { useState, type FormEvent } from 'react'

import { msg, plural, rich, t } from '../../language/words.ts'
import { CopyBox } from '../admin/CopyBox.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { SPACE_ROLES } from '../spaces/roles.ts'
import { dot } from '../../ui/format.ts'
import { Link } from '../../ui/Link.tsx'
import { fullTime } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { QrCode } from './QrCode.tsx'

const DAY = 86_400_000
const ROLES: Record<SpaceRole, string> = { member: msg('Member'), viewer: msg('Viewer (reads only)'), admin: msg('Admin') }
const DAYS = [1, 7, 30] as const
const USES = [1, 5, 25, 100] as const

/** Makes a link with which people join a space, and lists those that still work. */
export default function InviteDialog({ spaceId, onClose }: { spaceId?: string; onClose: () => void }) {
  const me = useMe()!
  const spaces = useSpaces().filter(({ facts, members }) => !facts.direct && members.some((member) => member.id === me.id && member.role === 'admin'))
  const [chosen, setChosen] = useState(spaceId ?? spaces[0]?.facts.id ?? null)
  return (
    <Dialog title={t('Invite people')} onClose={onClose}>
      <div className="space-y-4 p-5 pt-2 text-small">
        {!chosen && <p>{rich('An invite is for a space. Create one first, or {link}.', { link: <Link href="/admin/people" className="text-link underline underline-offset-4" onClick={onClose}>{t('add a person without a space')}</Link> })}</p>}
        {chosen && !spaceId && (
          <label className="block">
            <span className="mb-1 block text-ink-soft">{t('Space')}</span>
            <select className="field" value={chosen} onChange={(event) => setChosen(event.target.value)}>
              {spaces.map(({ facts }) => <option key={facts.id} value={facts.id}>{facts.name}</option>)}
            </select>
          </label>
        )}
        {chosen && <Invites key={chosen} spaceId={chosen} />}
      </div>
    </Dialog>
  )
}

function Invites({ spaceId }: { spaceId: string }) {
  const { client } = useStore()
  const [made, setMade] = useState<NewInvite | null>(null)
  const [problem, setProblem] = useState('')
  const working = useQuery(`invites ${spaceId}`, () => client.invites.list(spaceId))
  const attempt = (work: Promise<unknown>) => void work.then(() => { setProblem(''); working.reload() }, (error: Error) => setProblem(error.message))
  const create = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const expiresAt = new Date(Date.now() + Number(form.get('days')) * DAY).toISOString()
    attempt(client.invites.create(spaceId, { role: form.get('role') as SpaceRole, uses: Number(form.get('uses')), expiresAt }).then(setMade))
  }
  const end = (invite: Invite) => {
    if (made?.id === invite.id) setMade(null)
    attempt(client.invites.end(spaceId, invite.id))
  }
  return (
    <>
      <form className="space-y-3" onSubmit={create}>
        <p className="text-ink-soft">{t('New people choose their name. People with an account join with it.')}</p>
        <div className="grid gap-3 md:grid-cols-3">
          <label><span className="mb-1 block text-ink-soft">{t('Role in the space')}</span><select name="role" className="field">{Object.entries(ROLES).map(([value, name]) => <option key={value} value={value}>{t(name)}</option>)}</select></label>
          <label><span className="mb-1 block text-ink-soft">{t('Expires after')}</span><select name="days" defaultValue={7} className="field">{DAYS.map((days) => <option key={days} value={days}>{plural(days, '{n} day', '{n} days')}</option>)}</select></label>
          <label><span className="mb-1 block text-ink-soft">{t('Works for')}</span><select name="uses" className="field">{USES.map((uses) => <option key={uses} value={uses}>{plural(uses, '{n} person', '{n} people')}</option>)}</select></label>
        </div>
        <Button type="submit" look="primary">{t('Create link')}</Button>
      </form>
      <p role="alert" className="text-bad">{problem}</p>
      {made && (
        <section aria-label={t('New invite')} className="space-y-3">
          <CopyBox title={t('Copy this link now. It won’t be shown again.')} text={made.url} />
          <QrCode text={made.url} label={t('QR code of the invite')} />
        </section>
      )}
      {working.data && working.data.length > 0 && (
        <section aria-label={t('Active invites')}>
          <h3 className="mb-1 font-sans text-ink-soft">{t('Active invites')}</h3>
          <ul className="divide-y divide-line">
            {working.data.map((invite) => (
              <li key={invite.id} className="flex items-center gap-3 py-1.5">
                <span className="flex-1">{t(SPACE_ROLES[invite.role])}{dot()}{t('{part} of {whole} joined', { part: invite.used, whole: invite.uses })}{dot()}{rich('expires {time}', { time: <time dateTime={invite.expiresAt}>{fullTime(invite.expiresAt)}</time> })}</span>
                <Button look="bad" onClick={() => end(invite)}>{t('End')}</Button>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}
