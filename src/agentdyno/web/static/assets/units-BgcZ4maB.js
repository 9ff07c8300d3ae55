<<<<<<<< HEAD:src/agentdyno/web/static/assets/units-BgcZ4maB.js
import{b as e,g as t,y as n}from"./components-mG4oWiPG.js";function r(e){return e===`ratio`||e===`score`}function i(t,i){return r(i)?n(t):e(t,i)}function a(e){return e===null?t(e):`${t(e)}×`}function o(e,t){return t.relative&&r(t.unit)?a(e):i(e,t.unit)}function s(e,t){let{detector:n,metric:o,unit:s}=t;return n===`version`&&o===`efficiency`&&r(s)?a(e):i(e,s)}export{o as i,s as n,i as r,r as t};
========
import{b as e,g as t,y as n}from"./components-CJx01TL3.js";function r(e){return e===`ratio`||e===`score`}function i(t,i){return r(i)?n(t):e(t,i)}function a(e){return e===null?t(e):`${t(e)}×`}function o(e,t){return t.relative&&r(t.unit)?a(e):i(e,t.unit)}function s(e,t){let{detector:n,metric:o,unit:s}=t;return n===`version`&&o===`efficiency`&&r(s)?a(e):i(e,s)}export{o as i,s as n,i as r,r as t};
>>>>>>>> v-scorers:src/agentdyno/web/static/assets/units-j9wE-HiR.js
