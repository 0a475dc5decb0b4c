// Generated from lithuanian.sbl by Snowball 3.0.1 - https://snowballstem.org/
import { BaseStemmer } from "./base-stemmer.js";

/**@constructor*/
var LithuanianStemmer = function() {
    var base = new BaseStemmer();

    // Changed: without the suffixes in er, as in Snowball 3.1.1.
    /** @const */ var a_0 = [
        ["a", -1, -1],
        ["ia", 0, -1],
        ["osna", 0, -1],
        ["iosna", 2, -1],
        ["uosna", 2, -1],
        ["iuosna", 4, -1],
        ["ysna", 0, -1],
        ["\u0117sna", 0, -1],
        ["e", -1, -1],
        ["ie", 8, -1],
        ["enie", 9, -1],
        ["oje", 8, -1],
        ["ioje", 11, -1],
        ["uje", 8, -1],
        ["iuje", 13, -1],
        ["yje", 8, -1],
        ["enyje", 15, -1],
        ["\u0117je", 8, -1],
        ["ame", 8, -1],
        ["iame", 18, -1],
        ["sime", 8, -1],
        ["ome", 8, -1],
        ["\u0117me", 8, -1],
        ["tum\u0117me", 22, -1],
        ["ose", 8, -1],
        ["iose", 24, -1],
        ["uose", 24, -1],
        ["iuose", 26, -1],
        ["yse", 8, -1],
        ["enyse", 28, -1],
        ["\u0117se", 8, -1],
        ["ate", 8, -1],
        ["iate", 31, -1],
        ["ite", 8, -1],
        ["kite", 33, -1],
        ["site", 33, -1],
        ["ote", 8, -1],
        ["tute", 8, -1],
        ["\u0117te", 8, -1],
        ["tum\u0117te", 38, -1],
        ["i", -1, -1],
        ["ai", 40, -1],
        ["iai", 41, -1],
        ["ei", 40, -1],
        ["tumei", 43, -1],
        ["ki", 40, -1],
        ["imi", 40, -1],
        ["umi", 40, -1],
        ["iumi", 47, -1],
        ["si", 40, -1],
        ["asi", 49, -1],
        ["iasi", 50, -1],
        ["esi", 49, -1],
        ["iesi", 52, -1],
        ["siesi", 53, -1],
        ["isi", 49, -1],
        ["aisi", 55, -1],
        ["eisi", 55, -1],
        ["tumeisi", 57, -1],
        ["uisi", 55, -1],
        ["osi", 49, -1],
        ["\u0117josi", 60, -1],
        ["uosi", 60, -1],
        ["iuosi", 62, -1],
        ["siuosi", 63, -1],
        ["usi", 49, -1],
        ["ausi", 65, -1],
        ["\u010diausi", 66, -1],
        ["\u0105si", 49, -1],
        ["\u0117si", 49, -1],
        ["\u0173si", 49, -1],
        ["t\u0173si", 70, -1],
        ["ti", 40, -1],
        ["enti", 72, -1],
        ["inti", 72, -1],
        ["oti", 72, -1],
        ["ioti", 75, -1],
        ["uoti", 75, -1],
        ["iuoti", 77, -1],
        ["auti", 72, -1],
        ["iauti", 79, -1],
        ["yti", 72, -1],
        ["\u0117ti", 72, -1],
        ["tel\u0117ti", 82, -1],
        ["in\u0117ti", 82, -1],
        ["ter\u0117ti", 82, -1],
        ["ui", 40, -1],
        ["iui", 86, -1],
        ["eniui", 87, -1],
        ["oj", -1, -1],
        ["\u0117j", -1, -1],
        ["k", -1, -1],
        ["am", -1, -1],
        ["iam", 92, -1],
        ["iem", -1, -1],
        ["im", -1, -1],
        ["sim", 95, -1],
        ["om", -1, -1],
        ["tum", -1, -1],
        ["\u0117m", -1, -1],
        ["tum\u0117m", 99, -1],
        ["an", -1, -1],
        ["on", -1, -1],
        ["ion", 102, -1],
        ["un", -1, -1],
        ["iun", 104, -1],
        ["\u0117n", -1, -1],
        ["o", -1, -1],
        ["io", 107, -1],
        ["enio", 108, -1],
        ["\u0117jo", 107, -1],
        ["uo", 107, -1],
        ["s", -1, -1],
        ["as", 112, -1],
        ["ias", 113, -1],
        ["es", 112, -1],
        ["ies", 115, -1],
        ["is", 112, -1],
        ["ais", 117, -1],
        ["iais", 118, -1],
        ["tumeis", 117, -1],
        ["imis", 117, -1],
        ["enimis", 121, -1],
        ["omis", 117, -1],
        ["iomis", 123, -1],
        ["umis", 117, -1],
        ["\u0117mis", 117, -1],
        ["enis", 117, -1],
        ["asis", 117, -1],
        ["ysis", 117, -1],
        ["ams", 112, -1],
        ["iams", 130, -1],
        ["iems", 112, -1],
        ["ims", 112, -1],
        ["enims", 133, -1],
        ["oms", 112, -1],
        ["ioms", 135, -1],
        ["ums", 112, -1],
        ["\u0117ms", 112, -1],
        ["ens", 112, -1],
        ["os", 112, -1],
        ["ios", 140, -1],
        ["uos", 140, -1],
        ["iuos", 142, -1],
        ["us", 112, -1],
        ["aus", 144, -1],
        ["iaus", 145, -1],
        ["ius", 144, -1],
        ["ys", 112, -1],
        ["enys", 148, -1],
        ["\u0105s", 112, -1],
        ["i\u0105s", 150, -1],
        ["\u0117s", 112, -1],
        ["am\u0117s", 152, -1],
        ["iam\u0117s", 153, -1],
        ["im\u0117s", 152, -1],
        ["kim\u0117s", 155, -1],
        ["sim\u0117s", 155, -1],
        ["om\u0117s", 152, -1],
        ["\u0117m\u0117s", 152, -1],
        ["tum\u0117m\u0117s", 159, -1],
        ["at\u0117s", 152, -1],
        ["iat\u0117s", 161, -1],
        ["sit\u0117s", 152, -1],
        ["ot\u0117s", 152, -1],
        ["\u0117t\u0117s", 152, -1],
        ["tum\u0117t\u0117s", 165, -1],
        ["\u012fs", 112, -1],
        ["\u016bs", 112, -1],
        ["t\u0173s", 112, -1],
        ["at", -1, -1],
        ["iat", 170, -1],
        ["it", -1, -1],
        ["sit", 172, -1],
        ["ot", -1, -1],
        ["\u0117t", -1, -1],
        ["tum\u0117t", 175, -1],
        ["u", -1, -1],
        ["au", 177, -1],
        ["iau", 178, -1],
        ["\u010diau", 179, -1],
        ["iu", 177, -1],
        ["eniu", 181, -1],
        ["siu", 181, -1],
        ["y", -1, -1],
        ["\u0105", -1, -1],
        ["i\u0105", 185, -1],
        ["\u0117", -1, -1],
        ["\u0119", -1, -1],
        ["\u012f", -1, -1],
        ["en\u012f", 189, -1],
        ["\u0173", -1, -1],
        ["i\u0173", 191, -1]
    ];

    /** @const */ var a_1 = [
        ["ing", -1, -1],
        ["aj", -1, -1],
        ["iaj", 1, -1],
        ["iej", -1, -1],
        ["oj", -1, -1],
        ["ioj", 4, -1],
        ["uoj", 4, -1],
        ["iuoj", 6, -1],
        ["auj", -1, -1],
        ["\u0105j", -1, -1],
        ["i\u0105j", 9, -1],
        ["\u0117j", -1, -1],
        ["\u0173j", -1, -1],
        ["i\u0173j", 12, -1],
        ["ok", -1, -1],
        ["iok", 14, -1],
        ["iuk", -1, -1],
        ["uliuk", 16, -1],
        ["u\u010Diuk", 16, -1],
        ["i\u0161k", -1, -1],
        ["iul", -1, -1],
        ["yl", -1, -1],
        ["\u0117l", -1, -1],
        ["am", -1, -1],
        ["dam", 23, -1],
        ["jam", 23, -1],
        ["zgan", -1, -1],
        ["ain", -1, -1],
        ["esn", -1, -1],
        ["op", -1, -1],
        ["iop", 29, -1],
        ["ias", -1, -1],
        ["ies", -1, -1],
        ["ais", -1, -1],
        ["iais", 33, -1],
        ["os", -1, -1],
        ["ios", 35, -1],
        ["uos", 35, -1],
        ["iuos", 37, -1],
        ["aus", -1, -1],
        ["iaus", 39, -1],
        ["\u0105s", -1, -1],
        ["i\u0105s", 41, -1],
        ["\u0119s", -1, -1],
        ["ut\u0117ait", -1, -1],
        ["ant", -1, -1],
        ["iant", 45, -1],
        ["siant", 46, -1],
        ["int", -1, -1],
        ["ot", -1, -1],
        ["uot", 49, -1],
        ["iuot", 50, -1],
        ["yt", -1, -1],
        ["\u0117t", -1, -1],
        ["yk\u0161t", -1, -1],
        ["iau", -1, -1],
        ["dav", -1, -1],
        ["sv", -1, -1],
        ["\u0161v", -1, -1],
        ["yk\u0161\u010D", -1, -1],
        ["\u0119", -1, -1],
        ["\u0117j\u0119", 60, -1]
    ];

    /** @const */ var a_2 = [
        ["ojime", -1, 7],
        ["\u0117jime", -1, 3],
        ["avime", -1, 6],
        ["okate", -1, 8],
        ["aite", -1, 1],
        ["uote", -1, 2],
        ["asius", -1, 5],
        ["okat\u0117s", -1, 8],
        ["ait\u0117s", -1, 1],
        ["uot\u0117s", -1, 2],
        ["esiu", -1, 4]
    ];

    /** @const */ var a_3 = [
        ["\u010D", -1, 1],
        ["d\u017E", -1, 2]
    ];

    /** @const */ var a_4 = [
        ["gd", -1, 1]
    ];

    /** @const */ var /** Array<int> */ g_v = [17, 65, 16, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 64, 1, 0, 64, 0, 0, 0, 0, 0, 0, 0, 4, 4];

    var /** number */ I_p1 = 0;


    /** @return {boolean} */
    function r_step1() {
        if (base.cursor < I_p1)
        {
            return false;
        }
        /** @const */ var /** number */ v_1 = base.limit_backward;
        base.limit_backward = I_p1;
        base.ket = base.cursor;
        if (base.find_among_b(a_0) == 0)
        {
            base.limit_backward = v_1;
            return false;
        }
        base.bra = base.cursor;
        base.limit_backward = v_1;
        if (!base.slice_del())
        {
            return false;
        }
        return true;
    };

    /** @return {boolean} */
    function r_step2() {
        while(true)
        {
            /** @const */ var /** number */ v_1 = base.limit - base.cursor;
            lab0: {
                if (base.cursor < I_p1)
                {
                    break lab0;
                }
                /** @const */ var /** number */ v_2 = base.limit_backward;
                base.limit_backward = I_p1;
                base.ket = base.cursor;
                if (base.find_among_b(a_1) == 0)
                {
                    base.limit_backward = v_2;
                    break lab0;
                }
                base.bra = base.cursor;
                base.limit_backward = v_2;
                if (!base.slice_del())
                {
                    return false;
                }
                continue;
            }
            base.cursor = base.limit - v_1;
            break;
        }
        return true;
    };

    /** @return {boolean} */
    function r_fix_conflicts() {
        var /** number */ among_var;
        base.ket = base.cursor;
        among_var = base.find_among_b(a_2);
        if (among_var == 0)
        {
            return false;
        }
        base.bra = base.cursor;
        switch (among_var) {
            case 1:
                if (!base.slice_from("ait\u0117"))
                {
                    return false;
                }
                break;
            case 2:
                if (!base.slice_from("uot\u0117"))
                {
                    return false;
                }
                break;
            case 3:
                if (!base.slice_from("\u0117jimas"))
                {
                    return false;
                }
                break;
            case 4:
                if (!base.slice_from("esys"))
                {
                    return false;
                }
                break;
            case 5:
                if (!base.slice_from("asys"))
                {
                    return false;
                }
                break;
            case 6:
                if (!base.slice_from("avimas"))
                {
                    return false;
                }
                break;
            case 7:
                if (!base.slice_from("ojimas"))
                {
                    return false;
                }
                break;
            case 8:
                if (!base.slice_from("okat\u0117"))
                {
                    return false;
                }
                break;
        }
        return true;
    };

    /** @return {boolean} */
    function r_fix_chdz() {
        var /** number */ among_var;
        base.ket = base.cursor;
        among_var = base.find_among_b(a_3);
        if (among_var == 0)
        {
            return false;
        }
        base.bra = base.cursor;
        switch (among_var) {
            case 1:
                if (!base.slice_from("t"))
                {
                    return false;
                }
                break;
            case 2:
                if (!base.slice_from("d"))
                {
                    return false;
                }
                break;
        }
        return true;
    };

    /** @return {boolean} */
    function r_fix_gd() {
        base.ket = base.cursor;
        if (base.find_among_b(a_4) == 0)
        {
            return false;
        }
        base.bra = base.cursor;
        if (!base.slice_from("g"))
        {
            return false;
        }
        return true;
    };

    this.stem = /** @return {boolean} */ function() {
        I_p1 = base.limit;
        /** @const */ var /** number */ v_1 = base.cursor;
        lab0: {
            /** @const */ var /** number */ v_2 = base.cursor;
            lab1: {
                /** @const */ var /** number */ v_3 = base.cursor;
                if (!(base.eq_s("a")))
                {
                    base.cursor = v_2;
                    break lab1;
                }
                base.cursor = v_3;
                if (base.current.length <= 6)
                {
                    base.cursor = v_2;
                    break lab1;
                }
                if (base.cursor >= base.limit)
                {
                    base.cursor = v_2;
                    break lab1;
                }
                base.cursor++;
            }
            if (!base.go_out_grouping(g_v, 97, 371))
            {
                break lab0;
            }
            base.cursor++;
            if (!base.go_in_grouping(g_v, 97, 371))
            {
                break lab0;
            }
            base.cursor++;
            I_p1 = base.cursor;
        }
        base.cursor = v_1;
        base.limit_backward = base.cursor; base.cursor = base.limit;
        /** @const */ var /** number */ v_4 = base.limit - base.cursor;
        r_fix_conflicts();
        base.cursor = base.limit - v_4;
        /** @const */ var /** number */ v_5 = base.limit - base.cursor;
        r_step1();
        base.cursor = base.limit - v_5;
        /** @const */ var /** number */ v_6 = base.limit - base.cursor;
        r_fix_chdz();
        base.cursor = base.limit - v_6;
        /** @const */ var /** number */ v_7 = base.limit - base.cursor;
        r_step2();
        base.cursor = base.limit - v_7;
        /** @const */ var /** number */ v_8 = base.limit - base.cursor;
        r_fix_chdz();
        base.cursor = base.limit - v_8;
        /** @const */ var /** number */ v_9 = base.limit - base.cursor;
        r_fix_gd();
        base.cursor = base.limit - v_9;
        base.cursor = base.limit_backward;
        return true;
    };

    /**@return{string}*/
    this['stemWord'] = function(/**string*/word) {
        base.setCurrent(word);
        this.stem();
        return base.getCurrent();
    };
};
export { LithuanianStemmer as Stemmer };
