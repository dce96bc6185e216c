// The screens on which sentences are rewritten (VISLA).

import { kinds } from "./forms.js";
import { paraphrase } from "./paraphrase.js";
import { triplet } from "./triplet.js";

Object.assign(kinds, { paraphrase, triplet });
