import { useState } from 'react'

import { msg, t } from '../../language/words.ts'
import { EMOJI, foundEmoji, type Emoji } from './emoji.ts'

/** A grid of emoji with a search field. */
export default function EmojiPicker({ onChoose }: { onChoose: (sign: string) => void }) {
  const [typed, setTyped] = useState('')
  const groups = typed.trim() ? [{ title: msg('Results'), emoji: foundEmoji(typed) }] : EMOJI
  const first = groups[0]?.emoji[0]
  return (
    <div className="w-72">
      <input
        type="search"
        autoFocus
        aria-label={t('Search emoji')}
        placeholder={t('Search emoji')}
        value={typed}
        className="field py-1.5 text-small"
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          if (first) onChoose(first.sign)
        }}
      />
      <div className="mt-2 max-h-64 space-y-2 overflow-y-auto">
        {groups.map(({ title, emoji }) => (
          <section key={title} aria-label={t(title)}>
            <h3 className="mb-1 font-sans text-tiny text-ink-soft">{t(title)}</h3>
            {emoji.length === 0 && <p className="text-small text-ink-soft">{t('No results')}</p>}
            <ul className="grid grid-cols-8">{emoji.map((each) => <Choice key={each.name} emoji={each} onChoose={onChoose} />)}</ul>
          </section>
        ))}
      </div>
    </div>
  )
}

function Choice({ emoji: { sign, name }, onChoose }: { emoji: Emoji; onChoose: (sign: string) => void }) {
  const title = name.replaceAll('_', ' ')
  return <li><button type="button" title={title} aria-label={title} className="grid size-8 place-items-center rounded-md text-large hover:bg-hover focus-visible:bg-hover" onClick={() => onChoose(sign)}>{sign}</button></li>
}
