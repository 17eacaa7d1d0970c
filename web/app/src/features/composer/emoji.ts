import { msg } from '../../language/words.ts'

/** Common emoji with their names, for the picker and for `:name` in the composer. Loaded on demand. */

const GROUPS = {
  [msg('Smileys')]: '😀 grinning|😄 smile|😁 beaming|😂 joy|🤣 rofl|😊 blush|🙂 slight_smile|😉 wink|😍 heart_eyes|😘 kiss|😎 sunglasses|🤓 nerd|🤔 thinking|🤨 raised_eyebrow|😐 neutral|🙄 rolling_eyes|😬 grimace|😴 sleeping|😅 sweat_smile|😇 innocent|🥳 partying|🤯 exploding_head|😮 surprised|😢 cry|😭 sob|😤 triumph|😡 angry|😱 scream|🥺 pleading|😕 confused|🤗 hug|🤝 handshake|🤷 shrug|🤦 facepalm',
  [msg('Gestures')]: '👍 thumbs_up|👎 thumbs_down|👏 clap|🙌 raised_hands|🙏 pray|👋 wave|👌 ok|✌️ victory|🤞 fingers_crossed|💪 muscle|👀 eyes|👉 point_right|👇 point_down|☝️ point_up|✋ raised_hand|🫡 salute|🫶 heart_hands',
  [msg('Hearts')]: '❤️ heart|🧡 orange_heart|💛 yellow_heart|💚 green_heart|💙 blue_heart|💜 purple_heart|💔 broken_heart|💯 hundred|✨ sparkles|⭐ star|🌟 glowing_star|🔥 fire|💥 boom|⚡ zap',
  [msg('Work')]: '✅ check|❌ cross|⚠️ warning|❓ question|❗ exclamation|💡 idea|📌 pin|📎 paperclip|📝 memo|📅 calendar|📈 chart_up|📉 chart_down|📦 package|🔒 lock|🔑 key|🔍 search|🔧 wrench|🛠️ tools|⚙️ gear|🐛 bug|🚀 rocket|🚢 ship|🏁 finish|🎯 target|🧪 test_tube|💻 laptop|📱 phone|✉️ mail|🔔 bell|⏳ hourglass|⏰ alarm|🗑️ trash|🤖 robot|🧠 brain',
  [msg('Life')]: '🎉 tada|🎊 confetti|🎁 gift|🎂 cake|☕ coffee|🍵 tea|🍕 pizza|🍎 apple|🍉 watermelon|🥂 cheers|🌹 rose|🌱 seedling|🌳 tree|🌙 moon|☀️ sun|🌧️ rain|🌈 rainbow|🐈 cat|🐕 dog|🐪 camel|🦊 fox|🐢 turtle|🏆 trophy|⚽ football|🎵 music|🏠 home|🕌 mosque|✈️ airplane|🚗 car|🌍 earth',
}

export interface Emoji {
  sign: string
  name: string
}

export const EMOJI: readonly { title: string; emoji: readonly Emoji[] }[] = Object.entries(GROUPS).map(([title, list]) => ({
  title,
  emoji: list.split('|').map((entry) => ({ sign: entry.split(' ')[0]!, name: entry.split(' ')[1]! })),
}))

const ALL = EMOJI.flatMap((group) => group.emoji)

/** Names that start with the text come first. */
export function foundEmoji(text: string, limit = ALL.length): Emoji[] {
  const wanted = text.trim().toLowerCase().replaceAll(' ', '_')
  const rank = ({ name }: Emoji) => (name.startsWith(wanted) ? 0 : 1)
  return ALL.filter(({ name }) => name.includes(wanted)).toSorted((a, b) => rank(a) - rank(b)).slice(0, limit)
}
