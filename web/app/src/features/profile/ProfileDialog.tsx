import { useMe, useStore } from '@majlis/client/react'
import { useState, type FormEvent } from 'react'

import { chooseLanguage, chosenLanguage, LANGUAGES, type Language } from '../../language/language.ts'
import { t } from '../../language/words.ts'
import { AccessList } from '../admin/AccessList.tsx'
import { NotificationSettings } from '../notifications/NotificationSettings.tsx'
import { chooseTheme, THEMES, useTheme, type Theme } from '../../theme.ts'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { chosenTimeZone, keepTimeZone } from '../../ui/timeZone.ts'
import { toast } from '../../ui/toast.tsx'
import { useQuery } from '../../ui/useQuery.ts'
import { PictureField } from './PictureField.tsx'
import { noteChange } from './unsent.ts'

/** The person's own name, appearance, notifications, and the browsers and tokens with which they are signed in. */
export default function ProfileDialog({ onClose }: { onClose: () => void }) {
  const me = useMe()!
  const { client } = useStore()
  const access = useQuery(`access ${me.id}`, () => client.entities.access(me.id))
  const [problem, setProblem] = useState('')
  const attempt = (work: Promise<unknown>) => void work.then(() => setProblem(''), (error: Error) => setProblem(error.message))
  return (
    <Dialog title={t('Your profile')} onClose={onClose}>
      <div className="space-y-6 p-5 pt-3 text-small">
        <p role="alert" className="text-bad empty:hidden">{problem}</p>
        <PictureField entity={me} />
        <Name attempt={attempt} />
        <Appearance />
        <LanguageChoice />
        <TimeZoneChoice />
        <NotificationSettings />
        <section aria-labelledby="access">
          <h3 id="access" className="mb-1 font-sans text-ink-soft">{t('Where you are signed in')}</h3>
          {access.data ? <AccessList entityId={me.id} list={access.data} onChange={access.reload} attempt={attempt} /> : <QueryStatus problem={access.problem} />}
        </section>
      </div>
    </Dialog>
  )
}

function Name({ attempt }: { attempt: (work: Promise<unknown>) => void }) {
  const me = useMe()!
  const store = useStore()
  const [name, setName] = useState(me.name)
  const mayRename = me.role !== 'member'
  const rename = (event: FormEvent) => {
    event.preventDefault()
    attempt(store.client.entities.change(me.id, { name: name.trim() }).then((changed) => {
      setName(changed.name)
      store.change((state) => (state.me ? { ...state, me: { ...state.me, name: changed.name } } : state))
    }))
  }
  return (
    <form className="flex items-end gap-3" onSubmit={rename}>
      <label className="min-w-0 flex-1">
        <span className="mb-1 block text-ink-soft">{t('Name')}</span>
        <input required maxLength={64} value={name} disabled={!mayRename} aria-describedby={mayRename ? undefined : 'name-hint'} className="field" onChange={(event) => setName(event.target.value)} />
        {!mayRename && <span id="name-hint" className="mt-1 block text-ink-soft">{t('Ask an administrator to change your name.')}</span>}
      </label>
      {mayRename && name.trim() !== '' && name.trim() !== me.name && <Button type="submit" look="primary">{t('Save')}</Button>}
    </form>
  )
}

function Appearance() {
  const theme = useTheme()
  return (
    <fieldset className="flex flex-wrap gap-x-5 gap-y-1">
      <legend className="mb-1 text-ink-soft">{t('Appearance')}</legend>
      {Object.entries(THEMES).map(([value, name]) => (
        <label key={value} className="flex items-center gap-2"><input type="radio" name="theme" value={value} checked={theme === value} className="accent-link" onChange={() => chooseTheme(value as Theme)} />{t(name)}</label>
      ))}
    </fieldset>
  )
}

/** It counts at once. The name of a language is in that language. */
function LanguageChoice() {
  const choose = (value: string) => void chooseLanguage(value === '' ? null : (value as Language)).then(() => noteChange('language'), (error: Error) => toast(error.message))
  return (
    <label className="block">
      <span className="mb-1 block text-ink-soft">{t('Language')}</span>
      <select value={chosenLanguage() ?? ''} className="field w-auto" onChange={(event) => choose(event.target.value)}>
        <option value="">{t('Same as the browser')}</option>
        {Object.entries(LANGUAGES).map(([value, name]) => <option key={value} value={value} lang={value}>{name}</option>)}
      </select>
    </label>
  )
}

/** It counts at once, for times, days and quiet hours. */
function TimeZoneChoice() {
  const chosen = chosenTimeZone()
  const names = Intl.supportedValuesOf('timeZone')
  const choose = (value: string) => {
    keepTimeZone(value === '' ? null : value)
    noteChange('timeZone')
  }
  return (
    <div>
      <label htmlFor="time-zone" className="mb-1 block text-ink-soft">{t('Time zone')}</label>
      <select id="time-zone" value={chosen ?? ''} className="field w-auto max-w-full" onChange={(event) => choose(event.target.value)}>
        <option value="">{t('Same as the computer')}</option>
        {(chosen === null || names.includes(chosen) ? names : [chosen, ...names]).map((name) => <option key={name} value={name}>{name.replaceAll('_', ' ')}</option>)}
      </select>
    </div>
  )
}
